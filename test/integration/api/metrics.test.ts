import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
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

  it('count a request of any method that there is', async () => {
    for (const method of ['OPTIONS', 'PROPFIND']) await request(method, '/tokens');
    const methods = [...(await replica.metrics.registry.metrics()).matchAll(/[{,]method="([^"]+)"/g)];
    expect(new Set(methods.map((match) => match[1]))).to.deep.equal(new Set(['GET', 'any']));
  });
});
