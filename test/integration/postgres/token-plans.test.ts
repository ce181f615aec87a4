import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { insertTokens } from '../../../src/data/token-inserts.ts';
import { findToken, findTokens } from '../../../src/data/tokens.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newToken } from '../../support/rows.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

describe('the plans of a new database', () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  it('look tokens up by their primary key, before there are statistics', async () => {
    const tenantId = randomUUID();
    const database = databaseWithin(tenantId, test.api);
    // Enough for the indexes to grow to different heights.
    for (let batch = 0; batch < 100; batch++) {
      const tokens = Array.from({ length: 20 }, () => newToken(tenantId, { searchHashes: [randomBytes(32)] }));
      await insertTokens(database, tokens, []);
      await findToken(database, tenantId, tokens[0]!.id);
      await findTokens(
        database,
        tenantId,
        tokens.map(({ id }) => id),
      );
    }
    const read = await eventually(async () => {
      await test.database.run({ text: 'select pg_stat_force_next_flush()' });
      const rows = await test.database.run<{ name: string; scans: number }>({
        text: `
          select indexrelname as name, idx_scan::integer as scans from pg_stat_user_indexes
          where relname = 'tokens' and idx_scan > 0`,
      });
      // One for the foreign key of each hash, and one for each token found.
      expect(rows.reduce((sum, { scans }) => sum + scans, 0)).to.be.at.least(4100);
      return rows.map(({ name }) => name);
    });
    expect(read).to.deep.equal(['tokens_pkey']);
  });
});
