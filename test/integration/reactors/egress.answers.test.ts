import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { egressRules } from '../../../src/domain/egress.ts';
import { createAuthority, issueCertificate } from '../../../src/operator/workloads/certificates.ts';
import { createEgressClient } from '../../../src/platform/egress/client.ts';
import { EgressError } from '../../../src/platform/egress/errors.ts';
import type { EgressAnswer, EgressOptions, EgressRequest } from '../../../src/platform/egress/types.ts';
import { startListeners, type Listeners } from '../../support/egress/listeners.ts';

const MEBIBYTE = 1024 * 1024;
const HOSTS = ['good.test', 'other.test'];

const RESPONSES: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {
  '/large': (response) => response.end(Buffer.alloc(MEBIBYTE + 1)),
  '/fits': (response) => response.end(Buffer.alloc(MEBIBYTE)),
  '/endless': (response) => {
    const more = (): boolean => response.destroyed || response.write(Buffer.alloc(64 * 1024), () => setImmediate(more));
    more();
  },
  '/silent': () => undefined,
  '/slow-body': (response) => response.write('a'),
  '/cut': (response) => {
    response.writeHead(200, { 'content-length': 100 }).write('only this');
    setImmediate(() => response.destroy());
  },
  '/bomb/gzip': (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(20 * MEBIBYTE))),
  '/bomb/br': (response) =>
    response.setHeader('content-encoding', 'br').end(brotliCompressSync(Buffer.alloc(20 * MEBIBYTE))),
  '/gzip': (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('hello')),
  '/deflate': (response) => response.setHeader('content-encoding', 'deflate').end(deflateSync('hello')),
  '/not-gzip': (response) => response.setHeader('content-encoding', 'gzip').end('hello'),
  '/twice': (response) => response.setHeader('content-encoding', 'gzip, gzip').end(gzipSync(gzipSync('hello'))),
  '/cookies': (response) => response.setHeader('set-cookie', ['a=1', 'b=2']).end(),
  '/echo': (response, request) => {
    const sent: Buffer[] = [];
    request.on('data', (chunk: Buffer) => sent.push(chunk));
    request.on('end', () =>
      response.end(
        JSON.stringify({ method: request.method, headers: request.headers, body: Buffer.concat(sent).toString() }),
      ),
    );
  },
  '/large-headers': (response) => response.setHeader('x-large', 'a'.repeat(40_000)).end(),
};

describe('answers from the outside', () => {
  let listeners: Listeners;
  const servers: Server[] = [];

  before(async () => {
    listeners = await startListeners((request, response) =>
      RESPONSES[request.url!.replace(/\?.*/, '')]!(response, request),
    );
  });
  after(async () => {
    await listeners.stop();
    for (const server of servers) server.close();
  });
  beforeEach(() => listeners.forget());

  function send(
    url: string,
    request: Partial<EgressRequest> = {},
    options: Partial<EgressOptions> = {},
  ): Promise<EgressAnswer> {
    const client = createEgressClient({
      rules: { admit: () => () => true },
      resolve: async () => ['127.0.0.2'],
      ...options,
    });
    return client.request({ method: 'GET', url, headers: [], timeoutMs: 10_000, redirect: 'follow', ...request });
  }
  const at = (path: string, host = 'good.test', port = listeners.port): string => `http://${host}:${port}${path}`;
  async function failureOf(work: Promise<EgressAnswer>): Promise<{ rule: string; sent: boolean }> {
    const outcome: unknown = await work.catch((error: unknown) => error);
    if (!(outcome instanceof EgressError)) throw new Error(`no failure: ${JSON.stringify(outcome)}`);
    return { rule: outcome.rule, sent: outcome.sent };
  }

  it('come up to their limit, and not a byte more', async () => {
    expect((await send(at('/fits'))).body).to.have.length(MEBIBYTE);
    for (const path of ['/large', '/endless', '/bomb/gzip', '/bomb/br']) {
      expect(await failureOf(send(at(path))), path).to.deep.equal({ rule: 'too-large', sent: true });
    }
  });

  it('come decompressed, though they were asked for without compression', async () => {
    for (const path of ['/gzip', '/deflate']) {
      const { body, headers } = await send(at(path), { headers: [['accept-encoding', 'gzip']] });
      expect(body.toString()).to.equal('hello');
      expect(headers.map(([name]) => name)).not.to.include.members(['content-encoding', 'content-length']);
    }
    expect(listeners.requests.map(({ headers }) => headers['accept-encoding'])).to.deep.equal(['identity', 'identity']);
    for (const path of ['/not-gzip', '/twice']) expect(await failureOf(send(at(path)))).to.include({ rule: 'answer' });
  });

  it('are waited for as long as was said, from the look-up to the last byte', async () => {
    for (const path of ['/silent', '/slow-body']) {
      const begun = performance.now();
      expect(await failureOf(send(at(path), { timeoutMs: 300 })), path).to.deep.equal({
        rule: 'timed-out',
        sent: true,
      });
      expect(performance.now() - begun).to.be.within(290, 3_000);
    }
    const resolve = () => new Promise<never>(() => undefined);
    expect(await failureOf(send(at('/fits'), { timeoutMs: 100 }, { resolve }))).to.deep.equal({
      rule: 'timed-out',
      sent: false,
    });
  });

  it('are no longer waited for once the request is broken off', async () => {
    const stop = new AbortController();
    const failure = failureOf(send(at('/silent'), { signal: stop.signal }));
    while (listeners.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(await failure).to.deep.equal({ rule: 'aborted', sent: true });
    expect(await failureOf(send(at('/fits'), { signal: stop.signal }))).to.deep.equal({ rule: 'aborted', sent: false });
    expect(listeners.requests).to.have.length(1);
  });

  it('that are none are failures, and it is told whether the other side may have begun', async () => {
    expect(await failureOf(send(at('/cut')))).to.deep.equal({ rule: 'unreachable', sent: true });
    expect(await failureOf(send(at('/large-headers')))).to.deep.equal({ rule: 'answer', sent: true });
    const closed = createTcpServer();
    closed.listen(0, '127.0.0.2');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    expect(await failureOf(send(at('/', 'good.test', port)))).to.deep.equal({ rule: 'unreachable', sent: false });
    for (const text of [
      'SSH-2.0-OpenSSH_9\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      'HTTP/1.1 101 x\r\nupgrade: y\r\nconnection: upgrade\r\n\r\n',
    ]) {
      const raw = createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(text)));
      servers.push(raw.listen(0, '127.0.0.2'));
      await once(raw, 'listening');
      const to = at('/', 'good.test', (raw.address() as AddressInfo).port);
      expect(await failureOf(send(to)), text).to.deep.equal({ rule: 'answer', sent: true });
    }
  });

  it('tell every header as it came', async () => {
    const { headers } = await send(at('/cookies'));
    expect(headers).to.deep.include.members([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]);
  });

  it('are to exactly what was sent, whatever the method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'get']) {
      const { body } = await send(at('/echo'), {
        method,
        body: Buffer.from('sent'),
        headers: [
          ['x-a', '1'],
          ['X-A', '2'],
        ],
      });
      const echo = JSON.parse(body.toString()) as { method: string; headers: object; body: string };
      expect(echo).to.deep.include({ method: method.toUpperCase(), body: 'sent' });
      expect(echo.headers).to.deep.include({ 'content-length': '4', 'x-a': '1, 2' });
    }
  });

  it('that lead to another origin take along no header that could hold a secret', async () => {
    const headers = ['Authorization', 'Cookie', 'X-Api-Key', 'Content-Type', 'Accept'].map(
      (name) => [name, 'v'] as const,
    );
    const post = { method: 'POST', body: Buffer.from('b'), headers };
    const echoed = async (host: string, status: number) => {
      const location = encodeURIComponent(at('/echo', host));
      const { body } = await send(at(`/to?status=${status}&location=${location}`), post);
      const { headers: got, ...rest } = JSON.parse(body.toString()) as { headers: Record<string, string> };
      return { ...rest, named: headers.map(([name]) => name.toLowerCase()).filter((name) => name in got) };
    };
    const all = headers.map(([name]) => name.toLowerCase());
    expect(await echoed('good.test', 307)).to.deep.equal({ method: 'POST', body: 'b', named: all });
    expect(await echoed('other.test', 308)).to.deep.equal({
      method: 'POST',
      body: 'b',
      named: ['content-type', 'accept'],
    });
    for (const status of [301, 302, 303]) {
      expect(await echoed('other.test', status)).to.deep.equal({ method: 'GET', body: '', named: ['accept'] });
    }
  });

  it('by TLS come from who has a certificate for the name, and lead to nothing without TLS', async () => {
    const nowMs = Date.now();
    const authority = await createAuthority(nowMs);
    const { certificate: cert, key } = await issueCertificate(authority, { name: 'good.test', usage: 'server' }, nowMs);
    const asked: unknown[] = [];
    const server = createHttpsServer({ cert, key }, (request, response) => {
      asked.push((request.socket as TLSSocket).servername);
      response.writeHead(request.url === '/down' ? 302 : 200, { location: at('/fits') }).end('hello');
    });
    servers.push(server.listen(0, '127.0.0.2'));
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ca = authority.certificate;
    const secure = (host: string, path = '/', options: Partial<EgressOptions> = { ca }): Promise<EgressAnswer> =>
      send(`https://${host}:${port}${path}`, {}, options);

    expect((await secure('good.test')).body.toString()).to.equal('hello');
    expect((await secure('GOOD.test.')).body.toString()).to.equal('hello');
    expect(asked).to.deep.equal(['good.test', 'good.test']);
    expect(await failureOf(secure('good.test', '/down'))).to.deep.equal({ rule: 'redirect', sent: true });
    expect(listeners.connections).to.deep.equal([]);
    const served = asked.length;
    for (const [host, options] of [['other.test'], ['127.0.0.2'], ['good.test', {}]] as const) {
      expect(await failureOf(secure(host, '/', options))).to.deep.equal({ rule: 'certificate', sent: false });
    }
    expect(asked).to.have.length(served);
    expect(await failureOf(send(`https://good.test:${listeners.port}/`, {}, { ca }))).to.include({ sent: false });
    server.closeAllConnections();
  });

  it('are asked for at the names of a policy alone', async () => {
    const rules = egressRules({ allow: HOSTS.map((host) => `${host}:${listeners.port}`) });
    const allowAddress = (address: string, host: string): boolean => address === '127.0.0.2' && host === 'good.test';
    expect(await send(at('/fits'), {}, { rules, allowAddress })).to.have.property('status', 200);
    expect(await failureOf(send(at('/fits', 'other.test'), {}, { rules, allowAddress }))).to.include({
      rule: 'address',
    });
  });
});
