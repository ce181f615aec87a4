import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createEgressClient } from '../../../src/platform/egress/client.ts';
import { callbackRules } from '../../../src/services/reactors/asynchronous/callback-url.ts';
import { createPostCallback } from '../../../src/services/reactors/asynchronous/post-callback.ts';
import { eventually } from '../../support/eventually.ts';
import { rejection } from '../../support/rejection.ts';

/** Much less than the deadline of a test, much more than an answer on this machine takes. */
const TIMEOUT_MS = 500;

describe('an attempt to deliver a result', () => {
  let server: Server;
  let host: string;
  const closed: string[] = [];

  before(async () => {
    server = createServer((request, response) => {
      const path = request.url!;
      response.once('close', () => closed.push(path));
      if (path === '/headers') response.writeHead(200).flushHeaders();
      else if (path === '/drops') setInterval(() => response.write('.'), 50).unref();
      else if (path === '/answers') response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  function post(path: string, signal = new AbortController().signal) {
    const client = createEgressClient({ rules: callbackRules({ httpHosts: [host] }) });
    return createPostCallback(client, TIMEOUT_MS)({ url: `http://${host}${path}`, headers: {}, body: '{}', signal });
  }

  it('takes an answer that comes in time', async () => {
    expect((await post('/answers')).status).to.equal(200);
  });

  for (const [what, path] of [
    ['never answers', '/silent'],
    ['stops after its headers', '/headers'],
    ['answers without end', '/drops'],
  ] as const) {
    it(`is over after its time where the receiver ${what}, and its connection closed`, async () => {
      const error = await rejection(post(path));
      expect(error).to.include({ name: 'EgressError', rule: 'timed-out' });
      await eventually(() => expect(closed).to.include(path));
    });
  }

  it('is broken off by a process that stops', async () => {
    const stopping = new AbortController();
    const attempt = rejection(post('/silent', stopping.signal));
    stopping.abort();
    expect(await attempt).to.include({ name: 'EgressError', rule: 'aborted' });
  });
});
