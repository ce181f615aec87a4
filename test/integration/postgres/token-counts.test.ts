import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Queryable } from '../../../src/data/database.ts';
import { migrate, readMigrations } from '../../../src/data/migrate.ts';
import { countTokens, foldTokenCounts } from '../../../src/data/token-counts.ts';
import { insertTokens } from '../../../src/data/token-inserts.ts';
import { deleteToken, type NewToken } from '../../../src/data/tokens.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, newLog, newToken } from '../../support/rows.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

const COUNTS_MIGRATION = 8;

/** With no column that the table was not made with. */
async function insertIntoFirstSchema(queryable: Queryable, token: NewToken): Promise<void> {
  await queryable.run(
    {
      text: `
        insert into tokens (tenant_id, token_id, type, container, data, metadata, expires_at, created_by, created_at)
        values ($1, $2, $3, $4, $5, '{}', $6, $7, $8)`,
    },
    [
      token.tenantId,
      token.id,
      token.type,
      token.container,
      token.data,
      token.expiresAt,
      token.createdBy,
      token.createdAt,
    ],
  );
}

describe('the counts of tokens', () => {
  let test: TestDatabase;
  let tenantId: string;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(() => {
    tenantId = randomUUID();
  });

  const countIn = (...containers: string[]): Promise<number> =>
    countTokens(databaseWithin(tenantId, test.api), {
      tenantId,
      scopes: containers.map((value) => [{ attribute: 'container', operator: 'starts_with', value }]),
    });
  const tokensIn = (container: string, count: number): NewToken[] =>
    Array.from({ length: count }, () => newToken(tenantId, { container }));
  async function rowsOf(table: string): Promise<number> {
    const [row] = await test.database.run<{ count: number }>(
      { text: `select count(*)::integer as count from ${table} where tenant_id = $1` },
      [tenantId],
    );
    return row!.count;
  }

  it('count a token once that several containers of the caller hold', async () => {
    await insertTokens(test.database, [...tokensIn('/a/b/', 3), ...tokensIn('/a/', 2), ...tokensIn('/ab/', 1)], []);
    for (const when of ['before folding', 'after it']) {
      expect(await countIn('/a/', '/a/b/', '/a/'), when).to.equal(5);
      expect(await countIn('/a/b/', '/ab/'), when).to.equal(4);
      expect(await countIn('/', '/nowhere/'), when).to.equal(6);
      expect(await countIn(), when).to.equal(0);
      await foldTokenCounts(test.maintenance, 1_000);
    }
    expect(await rowsOf('token_count_changes')).to.equal(0);
  });

  it('leave out what has expired before it is swept', async () => {
    const expired = newToken(tenantId, { container: '/a/', expiresAt: EARLIER() });
    await insertTokens(test.database, [expired, ...tokensIn('/a/', 2)], []);
    expect(await countIn('/a/')).to.equal(2);
    await foldTokenCounts(test.maintenance, 1_000);
    expect(await countIn('/a/')).to.equal(2);
  });

  it('take from the counts as many rows as a container has parents, however many tokens it holds', async () => {
    await insertTokens(test.database, tokensIn('/a/b/', 500), []);
    expect(await rowsOf('token_count_changes')).to.equal(1);
    await foldTokenCounts(test.maintenance, 1_000);
    expect(await rowsOf('token_counts')).to.equal(3);
  });

  it('hold while several write and several fold', async () => {
    let writing = true;
    const fold = async (): Promise<void> => {
      while (writing) {
        await foldTokenCounts(test.maintenance, 7);
        expect(await countIn('/')).to.be.at.most(400);
      }
    };
    const write = async (worker: number): Promise<void> => {
      for (let round = 0; round < 20; round++) {
        const tokens = tokensIn(`/w${worker % 2}/${round % 3}/`, 5);
        await insertTokens(test.database, tokens, []);
        const doomed = tokens[0]!;
        expect(await deleteToken(test.database, doomed, newLog(tenantId, doomed.id))).to.equal(true);
      }
    };
    const folding = [fold(), fold(), fold()];
    await Promise.all([0, 1, 2, 3].map(write)).finally(() => (writing = false));
    await Promise.all(folding);
    expect(await countIn('/')).to.equal(320);
    expect(await countIn('/w1/')).to.equal(160);
    while ((await foldTokenCounts(test.maintenance, 100)) > 0);
    expect(await countIn('/')).to.equal(320);
    expect(await countIn('/w1/')).to.equal(160);
  });

  it('are the same after a writer was cut off in the middle', async () => {
    await insertTokens(test.database, tokensIn('/a/', 2), []);
    const cutOff = test.database.transaction(async (transaction) => {
      await insertTokens(transaction, tokensIn('/a/', 3), []);
      await foldTokenCounts(transaction, 1_000);
      const [backend] = await transaction.run<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
      await test.database.run({ text: 'select pg_terminate_backend($1)' }, [backend!.pid]);
      await transaction.run({ text: 'select 1' });
    });
    expect(await cutOff.catch((error: unknown) => error)).to.have.property('kind', 'unavailable');
    expect(await countIn('/a/')).to.equal(2);
  });

  it('are filled for tokens that were there before them', async () => {
    const empty = await createEmptyDatabase();
    try {
      const known = await readMigrations();
      const before = known.filter(({ number }) => number < COUNTS_MIGRATION);
      await migrate(empty.database, { logger: silentLogger, migrations: before });
      const tokens = [...tokensIn('/a/b/', 3), ...tokensIn('/a/', 1)];
      for (const token of [...tokens, newToken(tenantId, { expiresAt: EARLIER() })]) {
        await insertIntoFirstSchema(empty.database, token);
      }
      await migrate(empty.database, { logger: silentLogger, migrations: known });
      const scope = [{ attribute: 'container', operator: 'starts_with', value: '/a/' }] as const;
      expect(await countTokens(empty.database, { tenantId, scopes: [scope] })).to.equal(4);
      expect(await countTokens(empty.database, { tenantId, scopes: 'all' })).to.equal(4);
      await insertTokens(empty.database, tokensIn('/a/', 1), []);
      expect(await countTokens(empty.database, { tenantId, scopes: 'all' })).to.equal(5);
    } finally {
      await empty.dispose();
    }
  });
});
