import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What reactors call: a processor, a few pages that answer in ways of their own, and the vault's API. */
export interface Peer {
  url: string;
  port: number;
  close(): void;
}

type Answer = (call: { request: IncomingMessage; url: URL; body: string; response: ServerResponse }) => void;

const SECRET_KEY = 'sk_test_4eC39HqLyjWD';
const ECHOED = ['authorization', 'content-type', 'idempotency-key', 'x-api-version', 'x-null', 'x-one', 'x-signature'];

export const PEER_KEYS = { SECRET_KEY };

export async function startPeer(): Promise<Peer> {
  const attempts = new Map<string, number>();
  const json = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

  const answers: Record<string, Answer> = {
    'POST /v1/charges': ({ request, body, response }) => {
      const form = new URLSearchParams(body);
      if (request.headers.authorization !== `Basic ${Buffer.from(`${SECRET_KEY}:`).toString('base64')}`) {
        return json(response, 401, { error: { code: 'unauthorized' } });
      }
      if (form.get('source[number]') === '4000000000000002') {
        return json(response, 402, { error: { message: 'Your card was declined.' } });
      }
      json(response, 200, { id: 'ch_1', status: 'succeeded', paid: true, reference: `ref-${form.get('amount')}` });
    },
    'POST /flaky': ({ request, body, response }) => {
      const key = String(request.headers['idempotency-key']);
      const attempt = (attempts.get(key) ?? 0) + 1;
      attempts.set(key, attempt);
      const refused = key.startsWith('refused') ? 409 : 503;
      if (attempt < 3 || refused === 409) return json(response, refused, { attempt });
      json(response, 200, { status: 200, attempt, order: (JSON.parse(body) as { order: unknown }).order });
    },
    'GET /pages': ({ url, response }) => {
      const cursor = Number(url.searchParams.get('cursor'));
      const items = [0, 1, 2].map((index) => ({ id: cursor * 3 + index }));
      json(response, 200, { items, next: cursor < 4 ? String(cursor + 1) : null });
    },
    'GET /binary': ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.from('00ff10fe8081', 'hex'));
    },
    'GET /redirect': ({ response }) => void response.writeHead(302, { location: '/echo' }).end(),
    // Never answered: the caller's own limit ends it.
    'GET /slow': () => undefined,
    'POST /tokens': ({ body, response }) => json(response, 201, { id: 'tok-1', ...(JSON.parse(body) as object) }),
    'GET /tokens/missing': ({ response }) => json(response, 404, { title: 'Not found.', status: 404 }),
  };

  const server: Server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://peer');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const known = answers[`${request.method} ${url.pathname}`];
      if (known) return known({ request, url, body, response });
      const status = Number(/^\/status\/(\d+)$/.exec(url.pathname)?.[1] ?? 200);
      const headers = Object.fromEntries(ECHOED.map((name) => [name, request.headers[name]]));
      if (request.method === 'DELETE' && url.pathname.startsWith('/tokens/')) return void response.writeHead(204).end();
      json(response, status, { id: 'echo', method: request.method, url: request.url, body, headers });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
