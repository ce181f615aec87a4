import { expect } from 'chai';
import { startMetricsServer } from '../../../src/platform/metrics-server.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';

describe('metrics', () => {
  it('are prefixed, and beside the standard ones of a process', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['route'] }).inc({ route: '/tokens' });
    metrics.gauge({ name: 'in_flight', help: 'In flight.' }).set(2);
    metrics.histogram({ name: 'request_duration_seconds', help: 'Duration.' }).observe(0.02);
    const text = await metrics.registry.metrics();
    expect(text).to.include('tokenkeep_requests_total{route="/tokens"} 1');
    expect(text).to.include('tokenkeep_in_flight 2');
    expect(text).to.include('tokenkeep_request_duration_seconds_bucket{le="0.025"} 1');
    expect(text).to.match(/^process_cpu_user_seconds_total /m);
    expect(text).to.match(/^nodejs_eventloop_lag_seconds /m);
    expect(text).to.match(/^nodejs_active_resources\{/m);
  });

  for (const label of ['id', 'tenant_id', 'token_ID']) {
    it(`refuse the label ${label}`, () => {
      expect(() => createMetrics().counter({ name: 'x', help: 'X.', labels: [label] })).to.throw(label);
    });
  }
});

describe('metrics server', () => {
  it('serves GET /metrics and nothing else', async () => {
    const { registry } = createMetrics();
    const server = await startMetricsServer({ host: '127.0.0.1', port: 0, registry });
    const base = `http://127.0.0.1:${server.port}`;
    const answer = await fetch(`${base}/metrics`);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.match(/^text\/plain/);
    expect(await answer.text()).to.include('process_start_time_seconds');
    expect((await fetch(`${base}/`)).status).to.equal(404);
    expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).to.equal(405);
    await server.close(1_000);
  });

  it('serves single figures in JSON where there are some', async () => {
    const { registry } = createMetrics();
    const figures = (path: string) => (path === '/demand' ? { average: 0.5 } : undefined);
    const server = await startMetricsServer({ host: '127.0.0.1', port: 0, registry, figures });
    const base = `http://127.0.0.1:${server.port}`;
    const answer = await fetch(`${base}/demand?now`);
    expect(answer.headers.get('content-type')).to.equal('application/json');
    expect(await answer.json()).to.deep.equal({ average: 0.5 });
    expect((await fetch(`${base}/other`)).status).to.equal(404);
    expect((await fetch(`${base}/demand`, { method: 'POST' })).status).to.equal(405);
    expect(await (await fetch(`${base}/metrics`)).text()).to.include('process_start_time_seconds');
    await server.close(1_000);
  });
});
