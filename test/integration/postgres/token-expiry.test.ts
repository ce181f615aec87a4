import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listLogs } from '../../../src/data/logs.ts';
import { clearExpiredCvcs, sweepExpiredTokens, sweepOrphanedTokens } from '../../../src/data/token-expiry.ts';
import { insertTokens } from '../../../src/data/token-inserts.ts';
import { findToken } from '../../../src/data/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, LATER, newToken, storedTenant } from '../../support/rows.ts';

describe('expiry of tokens in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(() => {
    tenantId = randomUUID();
  });

  async function rowsOf(table: string): Promise<number> {
    const [row] = await test.database.run<{ count: number }>(
      { text: `select count(*)::integer as count from ${table} where tenant_id = $1` },
      [tenantId],
    );
    return row!.count;
  }

  it('removes what has expired in batches, logs each, and leaves the rest', async () => {
    const tokens = Array.from({ length: 5 }, (_, index) =>
      newToken(tenantId, {
        type: index === 0 ? 'card' : 'token',
        expiresAt: EARLIER(),
        searchHashes: [Buffer.from('h')],
      }),
    );
    await insertTokens(test.database, [...tokens, newToken(tenantId, { expiresAt: LATER() }), newToken(tenantId)], []);
    expect(await sweepExpiredTokens(test.maintenance, 3)).to.equal(3);
    expect(await sweepExpiredTokens(test.maintenance, 3)).to.equal(2);
    expect(await sweepExpiredTokens(test.maintenance, 3)).to.equal(0);
    expect(await rowsOf('tokens')).to.equal(2);
    expect(await rowsOf('token_search_hashes')).to.equal(0);
    const logs = await listLogs(test.database, { tenantId, retentionSeconds: 60, limit: 10 });
    expect(logs.map(({ entityId }) => entityId).sort()).to.deep.equal(tokens.map(({ id }) => id).sort());
    expect(
      logs.every(({ operation, actorType, actorId }) => operation === 'expire' && actorType === 'system' && !actorId),
    ).to.be.true;
    expect(logs.filter(({ entityType }) => entityType === 'card')).to.have.length(1);
  });

  it('leaves the id of an expired token free before any sweep, and that of a live one taken', async () => {
    const expired = newToken(tenantId, { type: 'card', expiresAt: EARLIER(), searchHashes: [Buffer.from('h')] });
    const live = newToken(tenantId, { expiresAt: LATER() });
    await insertTokens(test.database, [expired, live], []);
    const hash = Buffer.from('new');
    const again = [expired, live].map(({ id }) => newToken(tenantId, { id, searchHashes: [hash] }));
    expect((await insertTokens(test.database, again, [])).map(({ id }) => id)).to.deep.equal([live.id]);
    expect((await findToken(test.database, tenantId, expired.id))?.type).to.equal('token');
    expect(await rowsOf('token_search_hashes')).to.equal(1);
    const logs = await listLogs(test.database, { tenantId, retentionSeconds: 60, limit: 9 });
    expect(logs.map(({ entityId, operation, message }) => ({ entityId, operation, message }))).to.deep.equal([
      { entityId: expired.id, operation: 'expire', message: 'card expired' },
    ]);
  });

  it('passes over what another sweep has taken', async () => {
    await insertTokens(
      test.database,
      Array.from({ length: 10 }, () => newToken(tenantId, { expiresAt: EARLIER() })),
      [],
    );
    await test.database.transaction(async (transaction) => {
      expect(await sweepExpiredTokens(transaction, 4)).to.equal(4);
      expect(await sweepExpiredTokens(test.maintenance, 100)).to.equal(6);
    });
    expect(await listLogs(test.database, { tenantId, retentionSeconds: 60, limit: 100 })).to.have.length(10);
  });

  it('clears codes past their retention, and leaves the tokens', async () => {
    const coded = (expiresAt: Date) => newToken(tenantId, { cvc: { sealed: Buffer.from('c'), expiresAt } });
    await insertTokens(test.database, [coded(EARLIER()), coded(EARLIER()), coded(LATER())], []);
    expect(await clearExpiredCvcs(test.maintenance, 1)).to.equal(1);
    expect(await clearExpiredCvcs(test.maintenance, 10)).to.equal(1);
    expect(await rowsOf('token_cvcs')).to.equal(1);
    expect(await rowsOf('tokens')).to.equal(3);
  });

  it('removes tokens whose tenant is gone with their hashes, in batches, and those of no other tenant', async () => {
    const [kept, other] = [await storedTenant(test.database), randomUUID()];
    await sweepOrphanedTokens(test.maintenance, 1_000);
    const tokensOf = (tenant: string) =>
      Array.from({ length: 5 }, () => newToken(tenant, { searchHashes: [Buffer.from('h')] }));
    await insertTokens(test.database, [tenantId, kept, other].flatMap(tokensOf), []);
    const removed = [];
    for (let sweep = 0; sweep < 4; sweep++) removed.push(await sweepOrphanedTokens(test.maintenance, 4));
    expect(removed).to.deep.equal([4, 4, 2, 0]);
    expect(await rowsOf('tokens')).to.equal(0);
    expect(await rowsOf('token_search_hashes')).to.equal(0);
    tenantId = kept;
    expect(await rowsOf('tokens')).to.equal(5);
  });
});
