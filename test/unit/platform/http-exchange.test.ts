import { once } from 'node:events';
import { Agent, createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { exchange, ExchangeError } from '../../../src/platform/http-exchange.ts';

const BODY = JSON.stringify({ order: 'x'.repeat(1_000_000) });
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const BUSY = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy';

describe('an HTTP exchange whose body is sent once the other side is there', () => {
  const opened: Server[] = [];
  const agent = new Agent({ keepAlive: true });

  afterEach(() => {
    for (const server of opened.splice(0)) server.close();
  });
  after(() => agent.destroy());

  async function listen(server: Server): Promise<string> {
    opened.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Hands every piece that comes in to `on`, with how many there were on this connection before. */
  const listenRaw = (on: (socket: Socket, piece: string, before: number) => void): Promise<string> =>
    listen(
      createServer((socket) => {
        let pieces = 0;
        socket.setEncoding('latin1').on('data', (piece: string) => on(socket, piece, pieces++));
        socket.on('error', () => undefined);
      }),
    );

  const send = (url: string, confirmed: boolean) =>
    exchange({ method: 'POST', url, headers: {}, body: BODY, timeoutMs: 5_000, maxBytes: 100, agent, confirmed });

  async function failureOf(exchanged: Promise<unknown>): Promise<ExchangeError> {
    const error = await exchanged.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ExchangeError);
    return error as ExchangeError;
  }

  it('is answered like any other, time and again', async () => {
    const lengths: number[] = [];
    const url = await listen(
      createHttpServer((request, response) => {
        void text(request).then((body) => {
          lengths.push(body.length);
          response.end('ok');
        });
      }),
    );
    for (let time = 0; time < 3; time += 1) expect(await send(url, true)).to.include({ status: 200, body: 'ok' });
    expect(lengths).to.deep.equal([BODY.length, BODY.length, BODY.length]);
  });

  it('was not sent where the connection ends before that, and not a byte of the body came', async () => {
    const seen: string[] = [];
    const url = await listenRaw((socket, piece) => {
      seen.push(piece);
      socket.destroy();
    });
    expect((await failureOf(send(url, true))).sent).to.equal(false);
    expect(seen.join('').split('\r\n\r\n')[1]).to.equal('');
  });

  it('was not sent on a kept connection that dies as it is used again', async () => {
    const connections = new Set<Socket>();
    let requests = 0;
    const server = createHttpServer();
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      connections.add(request.socket);
      requests += 1;
      if (requests > 1) return void request.socket.destroy();
      response.writeContinue();
      void text(request).then(() => response.end('ok'));
    });
    const url = await listen(server);
    expect((await send(url, true)).status).to.equal(200);
    expect((await failureOf(send(url, true))).sent).to.equal(false);
    expect([requests, connections.size]).to.deep.equal([2, 1]);
  });

  it('may have been acted on where the connection ends after that, or the body went along at once', async () => {
    const url = await listenRaw((socket, _, before) => {
      if (before === 0) socket.write(CONTINUE);
      else socket.destroy();
    });
    expect((await failureOf(send(url, true))).sent).to.equal(true);
    const hasty = await listenRaw((socket) => void socket.destroy());
    expect((await failureOf(send(hasty, false))).sent).to.equal(true);
  });

  it('is over with an answer that comes without it, and its connection with it', async () => {
    const connections = new Set<Socket>();
    const url = await listenRaw((socket) => {
      connections.add(socket);
      socket.write(BUSY);
    });
    for (let time = 1; time <= 2; time += 1) {
      expect(await send(url, true)).to.include({ status: 503, body: 'busy' });
      expect(connections.size).to.equal(time);
    }
  });
});
