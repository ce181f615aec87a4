import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { runRecorder } from '../../support/exchange-recorder.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

describe('health of the API', () => {
  let vault: TestVault;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());

  it('is answered without a key', async () => {
    const alive = await vault.request('GET', '/healthz');
    expect([alive.status, alive.body]).to.deep.equal([200, { status: 'ok' }]);
    const ready = await vault.request('GET', '/readyz');
    expect([ready.status, ready.body]).to.deep.equal([200, { status: 'ready', failures: [], degraded: [] }]);
  });

  describe('without Postgres', () => {
    it('is alive and not ready, answers 503, and comes back with Postgres', async () => {
      const test = await createTestDatabase();
      const { connectionString } = test;
      const name = new URL(connectionString).pathname.slice(1);
      const replica = await startReplica(vault, test.apiConnectionString);
      const administrator = new pg.Client({ connectionString: vault.connectionString });
      await administrator.connect();
      const status = async (path: string, headers = {}) => (await fetch(replica.baseUrl + path, { headers })).status;
      try {
        expect(await status('/readyz')).to.equal(200);
        await eventually(async () => {
          await administrator.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
            name,
          ]);
          await administrator.query(`alter database ${name} rename to ${name}_gone`);
        });
        const response = await eventually(async () => {
          const answer = await fetch(`${replica.baseUrl}/readyz`);
          expect(answer.status).to.equal(503);
          return answer;
        });
        const body = await response.json();
        expect(body).to.deep.equal({ status: 'not ready', failures: ['postgres'], degraded: [] });
        runRecorder()!.record({
          ...{ method: 'GET', path: '/readyz', requestBody: undefined },
          answer: { status: 503, headers: response.headers, body },
        });
        expect(await status('/healthz')).to.equal(200);

        const refused = await fetch(`${replica.baseUrl}/tokens`, {
          headers: { 'svc-api-key': `legacy-${randomUUID()}` },
        });
        expect(refused.status).to.equal(503);
        expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
        expect(await refused.text()).not.to.include('legacy-');

        await administrator.query(`alter database ${name}_gone rename to ${name}`);
        await eventually(async () => expect(await status('/readyz')).to.equal(200));
      } finally {
        await administrator.end();
        await replica.stop();
        await test.dispose();
      }
    });
  });
});
