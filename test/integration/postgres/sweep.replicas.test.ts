import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDatabase, type Database } from '../../../src/data/database.ts';
import { countTokens, foldTokenCounts } from '../../../src/data/token-counts.ts';
import { clearExpiredCvcs, sweepExpiredTokens } from '../../../src/data/token-expiry.ts';
import { insertToken } from '../../../src/data/token-inserts.ts';
import { listTokens } from '../../../src/data/token-lists.ts';
import { deleteToken, findToken } from '../../../src/data/tokens.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { removeInBatches, type RemoveRows } from '../../../src/services/batches.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, newToken } from '../../support/rows.ts';

const EXPIRED = 20_000;
const BATCH = 500;

describe('sweeps by several replicas at once', () => {
  let test: TestDatabase;
  let replicas: Database[];
  let tenantId: string;

  before(async () => {
    test = await createTestDatabase();
    const connectionString = test.sweeperConnectionString;
    replicas = Array.from({ length: 3 }, () => createDatabase({ connectionString, logger: silentLogger, poolSize: 2 }));
  });
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await test.dispose();
  });

  beforeEach(async () => {
    tenantId = randomUUID();
    const columns = 'tenant_id, token_id, type, container, data, metadata, created_by, created_at, expires_at';
    await test.database.run(
      {
        text: `
          with made as (
            insert into tokens (${columns})
            select $1::uuid, 'expired-' || i, 'token', '/a/' || i % 3 || '/', 'sealed', '{}', $1::uuid, now(),
              now() - interval '1 minute'
            from generate_series(1, $2::integer) as i
            returning tenant_id, token_id
          )
          insert into token_cvcs (tenant_id, token_id, cvc, expires_at)
          select tenant_id, token_id, 'sealed', now() - interval '1 minute' from made`,
      },
      [tenantId, EXPIRED],
    );
  });

  /** Has every replica remove in batches; gives what each statement removed. */
  async function removeByAll(remove: RemoveRows): Promise<number[]> {
    const counts: number[] = [];
    const counted: RemoveRows = async (queryable, limit) => {
      const count = await remove(queryable, limit);
      counts.push(count);
      return count;
    };
    const { signal } = new AbortController();
    await Promise.all(replicas.map((replica) => removeInBatches(counted, replica, { size: BATCH, signal })));
    return counts;
  }

  /** Creates, reads, lists, counts and deletes until told to stop; gives how often. */
  async function live(isOver: () => boolean): Promise<number> {
    for (let rounds = 0; ; rounds++) {
      if (isOver()) return rounds;
      const token = newToken(tenantId, { container: '/live/' });
      expect(await insertToken(test.database, token, newLog(tenantId, token.id))).to.equal('created');
      expect(await findToken(test.database, tenantId, token.id)).to.include({ id: token.id });
      const listed = await listTokens(test.database, { tenantId, scopes: 'all' }, { limit: 5 });
      expect(listed.map(({ id }) => id)).to.deep.equal([token.id]);
      expect(await countTokens(test.database, { tenantId, scopes: 'all' })).to.equal(1);
      expect(await deleteToken(test.database, token, newLog(tenantId, token.id))).to.equal(true);
    }
  }

  const count = async (text: string): Promise<number> => {
    const [row] = await test.database.run<{ count: number }>(
      { text: `select count(*)::integer as count from ${text}` },
      [tenantId],
    );
    return row!.count;
  };

  it('remove each expired token once, in bounded statements, while tokens are written, read and counted', async () => {
    let over = false;
    const [counts, rounds] = await Promise.all([
      removeByAll(sweepExpiredTokens).finally(() => (over = true)),
      live(() => over),
    ]);
    expect(rounds).to.be.at.least(1);
    expect(Math.max(...counts)).to.be.at.most(BATCH);
    expect(counts.reduce((sum, removed) => sum + removed)).to.equal(EXPIRED);
    expect(await count('tokens where tenant_id = $1')).to.equal(0);
    expect(await count('token_cvcs where tenant_id = $1')).to.equal(0);
    const expiries = `logs where tenant_id = $1 and operation = 'expire'`;
    expect(await count(expiries)).to.equal(EXPIRED);
    expect(await count(`(select distinct entity_id from ${expiries}) expired`)).to.equal(EXPIRED);
    await removeByAll(foldTokenCounts);
    expect(await countTokens(test.database, { tenantId, scopes: 'all' })).to.equal(0);
  });

  it('clear each code once, in bounded statements, while tokens go as well', async () => {
    const [codes, tokens] = await Promise.all([removeByAll(clearExpiredCvcs), removeByAll(sweepExpiredTokens)]);
    expect(Math.max(...codes, ...tokens)).to.be.at.most(BATCH);
    expect(tokens.reduce((sum, removed) => sum + removed)).to.equal(EXPIRED);
    expect(await count('token_cvcs where tenant_id = $1')).to.equal(0);
  });

  it('pass over a token that a long transaction holds, and come back for it', async () => {
    await test.database.transaction(async (transaction) => {
      await transaction.run({ text: 'set local idle_in_transaction_session_timeout = 0' });
      const text = `select from tokens where tenant_id = $1 and token_id = 'expired-1' for update`;
      await transaction.run({ text }, [tenantId]);
      const counts = await removeByAll(sweepExpiredTokens);
      expect(counts.reduce((sum, removed) => sum + removed)).to.equal(EXPIRED - 1);
    });
    expect(await sweepExpiredTokens(test.database, BATCH)).to.equal(1);
  });

  it('end after the batch under way once they are told to', async () => {
    const stopping = new AbortController();
    const removed = await removeInBatches(
      async (queryable, limit) => {
        stopping.abort();
        return sweepExpiredTokens(queryable, limit);
      },
      test.database,
      { size: BATCH, signal: stopping.signal },
    );
    expect(removed).to.equal(BATCH);
  });
});
