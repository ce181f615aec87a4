import { expect } from 'chai';
import { startHealthServer } from '../../../src/platform/health-server.ts';
import { createHealth, type Health } from '../../../src/platform/health.ts';
import type { HttpServer } from '../../../src/platform/http-server.ts';

describe('health server', () => {
  let health: Health;
  let server: HttpServer;

  beforeEach(async () => {
    health = createHealth();
    server = await startHealthServer({ host: '127.0.0.1', port: 0, health });
  });
  afterEach(() => server.close(0));

  const ask = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${server.port}${path}`, { method });

  it('is alive, and ready until it drains', async () => {
    expect(await (await ask('/healthz?now')).json()).to.deep.equal({ status: 'ok' });
    const ready = await ask('/readyz');
    expect([ready.status, ready.headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    expect(await ready.json()).to.deep.equal({ status: 'ready', failures: [], degraded: [] });
    health.drain();
    const draining = await ask('/readyz');
    expect(draining.status).to.equal(503);
    expect(await draining.json()).to.deep.equal({ status: 'not ready', failures: ['draining'], degraded: [] });
    expect((await ask('/healthz')).status).to.equal(200);
  });

  it('answers HEAD without a body, and serves nothing else', async () => {
    const head = await ask('/readyz', 'HEAD');
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
    expect((await ask('/')).status).to.equal(404);
    expect((await ask('/other', 'POST')).status).to.equal(404);
    const posted = await ask('/healthz', 'POST');
    expect([posted.status, posted.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
  });

  it('answers 500 where finding out fails', async () => {
    health.readiness = () => Promise.reject(new Error('of the test'));
    const failed = await ask('/readyz');
    expect([failed.status, await failed.text()]).to.deep.equal([500, '']);
  });
});
