import { expect } from 'chai';
import pg from 'pg';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const TOKENS = 20_000;

describe('searches that read too much', () => {
  let vault: TestVault;
  let application: TestApplication;

  async function start(statementMs: number): Promise<void> {
    vault = await startTestVault({ broadReads: { statementMs } });
    application = await vault.application({ tenantId: await vault.tenant() });
  }
  afterEach(() => vault.stop());

  const requests = [
    ['POST', '/tokens/search', { query: 'NOT type:card AND NOT data:canary' }, 'query'],
    ['POST', '/v2/tokens/search', { query: 'NOT type:card AND NOT data:canary' }, 'query'],
    ['GET', '/tokens?metadata.k=canary', undefined, 'metadata'],
    ['GET', '/v2/tokens?metadata.k=canary', undefined, 'metadata'],
  ] as const;

  function send(method: string, path: string, body: object | undefined) {
    return vault.request(method, path, { key: application.key, ...(body === undefined ? {} : { body }) });
  }

  it('are refused with what to make narrower, as are lists by metadata', async () => {
    await start(1);
    await vault.database.run(
      {
        text: `
          insert into tokens (tenant_id, token_id, type, container, data, metadata, metadata_folded, created_by,
            created_at)
          select $1::uuid, 'token-' || n, 'card', '/pci/high/', '\\x00', '{}', '{"k": "canary"}', $2::uuid,
            now()
          from generate_series(1, $3::integer) n`,
      },
      [application.tenantId, application.id, TOKENS],
    );
    // The newest of a list by cursor are found at once, as each has the entry.
    for (const [method, path, body, property] of requests.slice(0, -1)) {
      const answer = await send(method, path, body);
      expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.equal(400);
      expect(answer.body.detail).to.match(/^This reads too many tokens to be answered within 0\.001 s: /);
      expect(answer.body.errors).to.have.all.keys(property);
      expect(answer.body.errors[property][0]).to.match(/^must be narrower: (add a term|ask for an entry) /);
      expect(JSON.stringify(answer.body)).not.to.include('canary');
    }
    expect(await send('GET', '/v2/tokens?type=bank', undefined)).to.have.property('status', 200);
  });

  it('are not blamed for a lock that keeps them waiting', async () => {
    await start(200);
    const holder = new pg.Client({ connectionString: vault.connectionString });
    await holder.connect();
    try {
      await holder.query('begin; lock table tokens in access exclusive mode');
      for (const [method, path, body] of requests) {
        const answer = await send(method, path, body);
        expect(answer.status, path).to.equal(503);
        expect(answer.headers.get('retry-after')).not.to.equal(null);
      }
    } finally {
      await holder.end();
    }
  });
});
