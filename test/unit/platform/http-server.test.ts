import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { startHttpServer } from '../../../src/platform/http-server.ts';
import type { HttpServer } from '../../../src/platform/http-server.ts';
import { eventually } from '../../support/eventually.ts';

const HOST = '127.0.0.1';

function start(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<HttpServer> {
  return startHttpServer({ host: HOST, port: 0, portFlag: '--port', listener });
}

describe('HTTP server', () => {
  it('listens on a free port for port 0', async () => {
    const server = await start((_, response) => response.end('hello'));
    const answer = await fetch(`http://${HOST}:${server.port}/`);
    expect(await answer.text()).to.equal('hello');
    await server.close(1_000);
  });

  it('says which flag to change where the port is taken', async () => {
    const server = await start((_, response) => response.end());
    const failure = await startHttpServer({
      host: HOST,
      port: server.port,
      portFlag: '--metrics-port',
      listener: () => undefined,
    })
      .then(() => undefined)
      .catch((error: unknown) => error as Error);
    expect(failure?.message).to.equal(
      `${HOST}:${server.port} is in use by another program; choose another with --metrics-port`,
    );
    await server.close(1_000);
  });

  it('says --host where the address is not one of this machine', async () => {
    const failure = await startHttpServer({ host: '192.0.2.1', port: 0, portFlag: '--port', listener: () => undefined })
      .then(() => undefined)
      .catch((error: unknown) => error as Error);
    expect(failure?.message).to.include('192.0.2.1').and.include('--host');
  });

  it('answers what is in flight before it closes, though the client keeps connections', async () => {
    const pending = Promise.withResolvers<ServerResponse>();
    const server = await start((_, response) => pending.resolve(response));
    const agent = new Agent({ keepAlive: true });
    const sent = request({ host: HOST, port: server.port, agent }).end();
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const response = await pending.promise;
    const closed = server.close(20_000);
    response.end('done');
    const [answer] = await answered;
    expect((await answer.toArray()).join('')).to.equal('done');
    await closed;
    agent.destroy();
  });

  it('destroys after the grace period what has not been answered', async () => {
    const received = Promise.withResolvers<void>();
    const server = await start(() => received.resolve());
    const sent = request({ host: HOST, port: server.port }).end();
    const failed = once(sent, 'error');
    await received.promise;
    await server.close(20);
    expect(((await failed) as [NodeJS.ErrnoException])[0].code).to.equal('ECONNRESET');
  });

  it('serves on while it drains, so that no request of clients that are sent elsewhere meanwhile fails', async () => {
    const [leaving, staying] = await Promise.all(
      ['leaving', 'staying'].map((name) => start((_, response) => response.end(name))),
    );
    // As a proxy of connections, which leaves alone those that stand.
    let target = leaving!.port;
    const agent = new Agent({ keepAlive: true });
    agent.createConnection = () => connect({ host: HOST, port: target });
    /** What each client was answered last, by whom and what became of the connection. */
    const answers = ['', '', '', ''];
    let ending = false;
    const client = async (_: string, index: number): Promise<void> => {
      while (!ending) {
        const [answer] = (await once(request({ host: HOST, agent }).end(), 'response')) as [IncomingMessage];
        answers[index] = `${await text(answer)}: ${answer.headers.connection}`;
      }
    };
    const clients = Promise.all(answers.map(client));
    const allAre = (expected: string) => eventually(() => expect(new Set(answers)).to.deep.equal(new Set([expected])));

    await allAre('leaving: keep-alive');
    leaving!.drain();
    await allAre('leaving: close');
    target = staying!.port;
    await allAre('staying: keep-alive');
    await leaving!.close(1_000);
    answers.fill('');
    await allAre('staying: keep-alive');
    ending = true;
    await clients;
    agent.destroy();
    await staying!.close(1_000);
  });

  it('refuses oversized headers with a problem, also on a connection that has served requests', async () => {
    const server = await start((_, response) => response.end());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = async (headers: Record<string, string>): Promise<IncomingMessage> => {
      const [answer] = await once(request({ host: HOST, port: server.port, agent, headers }).end(), 'response');
      return answer as IncomingMessage;
    };
    for (const served of [0, 1]) {
      if (served > 0) (await get({})).resume();
      const answer = await get({ 'x-large': 'x'.repeat(17_000) });
      expect([answer.statusCode, answer.headers['content-type']]).to.deep.equal([431, 'application/problem+json']);
      expect(JSON.parse((await answer.toArray()).join(''))).to.deep.equal({
        type: 'about:blank',
        title: 'Request Header Fields Too Large',
        status: 431,
        detail: 'The request line and the headers are larger than 16 KiB together.',
      });
    }
    agent.destroy();
    await server.close(1_000);
  });

  it('refuses what is not HTTP with a problem', async () => {
    const server = await start((_, response) => response.end());
    const socket = connect({ host: HOST, port: server.port });
    socket.end('no such protocol\r\n\r\n');
    const answer = (await socket.toArray()).join('');
    expect(answer)
      .to.match(/^HTTP\/1\.1 400 Bad Request\r\n/)
      .and.include('application/problem+json');
    await server.close(1_000);
  });
});
