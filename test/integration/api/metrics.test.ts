import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('metrics of the API', () => {
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let application: TestApplication;

  before(async () => {
    vault = await startTestVault();
    replica = await startReplica(vault);
    application = await vault.application({ type: 'management' });
  });
  after(async () => {
    await replica.stop();
    await vault.stop();
  });

  async function request(method: string, path: string): Promise<number> {
    const { status } = await fetch(replica.baseUrl + path, { method, headers: { 'svc-api-key': application.key } });
    return status;
  }

  it('count requests by route and status, and hold nothing of any one request', async () => {
    expect(await request('GET', `/applications/${application.id}`)).to.equal(200);
    expect(await request('GET', `/applications/${randomUUID()}`)).to.equal(404);
    expect(await request('GET', '/canary/path?canary=query')).to.equal(404);
    expect(await request('PUT', '/tokens')).to.equal(405);

    const text = await replica.metrics.registry.metrics();
    const counted = (labels: string) =>
      new RegExp(`^tokenkeep_http_request_duration_seconds_count\\{${labels}\\} (\\d+)$`, 'm').exec(text)?.[1];
    expect(counted('method="GET",route="/applications/\\{id\\}",status="200"')).to.equal('1');
    expect(counted('method="GET",route="/applications/\\{id\\}",status="404"')).to.equal('1');
    expect(counted('method="any",route="none",status="404"')).to.equal('1');
    expect(counted('method="any",route="none",status="405"')).to.equal('1');
    expect(text).to.match(/^tokenkeep_http_requests_in_flight 0$/m);

    expect(text).not.to.match(/[0-9a-f]{8}-[0-9a-f]{4}-/);
    expect(text).not.to.include('canary').and.not.to.include(application.key);
  });

  it('do not count probes: a vault that nobody calls would seem to fail, and one that fails to be well', async () => {
    const counted = async () =>
      (await replica.metrics.registry.metrics()).match(/^tokenkeep_http_request_duration_seconds_count\{.*$/gm);
    const before = await counted();
    for (const path of ['/healthz', '/readyz']) expect(await request('GET', path)).to.equal(200);
    expect(await counted()).to.deep.equal(before);
  });

  it('tell of connections, caches, keys and the sweeper', async () => {
    const stored = await vault.application({ type: 'private' });
    const headers = { 'svc-api-key': stored.key, 'content-type': 'application/json' };
    const body = JSON.stringify({ type: 'token', data: 'canary-of-metrics' });
    for (let n = 0; n < 2; n++) {
      expect((await fetch(`${replica.baseUrl}/tokens`, { method: 'POST', headers, body })).status).to.equal(201);
    }
    const value = async (series: string): Promise<number> => {
      const line = (await replica.metrics.registry.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
      return Number(line?.slice(series.length));
    };
    expect(await value('tokenkeep_cache_lookups_total{cache="access",result="miss"}')).to.be.at.least(1);
    expect(await value('tokenkeep_cache_lookups_total{cache="access",result="hit"}')).to.be.at.least(1);
    expect(await value('tokenkeep_cache_entries{cache="data-keys"}')).to.be.at.least(1);
    expect(await value('tokenkeep_cache_lookups_total{cache="data-keys",result="hit"}')).to.be.at.least(1);
    const made = 'tokenkeep_key_management_request_duration_seconds_count{operation="createDataKey",result="ok"}';
    expect(await value(made)).to.be.at.least(1);
    await eventually(
      async () => {
        expect(await value('tokenkeep_sweep_last_success_timestamp_seconds')).to.be.closeTo(Date.now() / 1000, 120);
        expect(await value('tokenkeep_master_key_age_seconds{master="tokens"}')).to.be.at.least(0);
        expect(await value('tokenkeep_key_attention')).to.equal(0);
      },
      { deadlineMs: 10_000 },
    );
    expect(await replica.metrics.registry.metrics()).not.to.include('canary-of-metrics');
  });

  it('count a request of any method that there is', async () => {
    for (const method of ['OPTIONS', 'PROPFIND']) await request(method, '/tokens');
    const methods = [...(await replica.metrics.registry.metrics()).matchAll(/[{,]method="([^"]+)"/g)];
    expect(new Set(methods.map((match) => match[1]))).to.deep.equal(new Set(['GET', 'POST', 'any']));
  });
});
