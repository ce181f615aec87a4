import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Queryable, Statement } from '../../../src/data/database.ts';
import type { TokenFilter } from '../../../src/data/token-filters.ts';
import { listTokens, pageOfTokens } from '../../../src/data/token-lists.ts';
import { foldTokenCounts } from '../../../src/data/token-counts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

const TOKENS = 6_000;
const SIZE = 10;
/** Rows of the table that a page may read: those that it shows, and a few around them. */
const READ_AT_MOST = 3 * SIZE;

interface Node {
  'Node Type': string;
  'Function Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Node[];
}

/** What the node and those below it read of the table, save in an index alone. */
function rowsRead(node: Node): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
  // What it gives, it has found in the index of metadata.
  if (node['Function Name'] === 'tokens_with_metadata') return below + node['Actual Rows'] * node['Actual Loops'];
  // The scan that a bitmap leads to is counted where it reads the table.
  if (node['Relation Name'] !== 'tokens' || node['Node Type'].startsWith('Index Only')) return below;
  const passed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return below + (node['Actual Rows'] + passed) * node['Actual Loops'];
}

describe('the plans of lists', () => {
  let test: TestDatabase;
  const tenantId = randomUUID();

  before(async () => {
    test = await createTestDatabase();
    const columns = 'tenant_id, token_id, type, container, data, metadata, metadata_folded, created_by, created_at';
    const text = `
      insert into tokens (${columns})
      select $1::uuid, gen_random_uuid()::text,
        case when i % 3000 = 0 then 'bank' else 'card' end,
        case when i % 1000 = 0 then '/rare/' when i % 3 = 0 then '/pci/high/eu/' else '/pci/high/' end,
        'sealed', m, m, $1::uuid, timestamptz '2026-01-01' + i * interval '1 second'
      from generate_series(1, $2::integer) as i,
        lateral (select jsonb_build_object('customer', (i / 5)::text) as m) metadata`;
    await test.database.run({ text }, [tenantId, TOKENS]);
    await foldTokenCounts(test.database, 1_000);
    // Lists are read in the index alone as far as the visibility of rows is known.
    await test.database.run({ text: 'vacuum (analyze) tokens' });
  });
  after(() => test.dispose());

  /** Rows of the table that the statements of some work read. */
  async function readBy(work: (queryable: Queryable) => Promise<unknown>): Promise<number> {
    const database = databaseWithin(tenantId, test.api);
    const seen: { statement: Statement; values: readonly unknown[] }[] = [];
    await work({
      async run(statement, values = []) {
        seen.push({ statement, values });
        return database.run(statement, values);
      },
    });
    let read = 0;
    for (const { statement, values } of seen) {
      const text = `explain (analyze, format json) ${statement.text}`;
      const [row] = await database.run<{ 'QUERY PLAN': [{ Plan: Node }] }>({ text }, values);
      read += rowsRead(row!['QUERY PLAN'][0].Plan);
    }
    return read;
  }

  const within = (value: string) => [{ attribute: 'container', operator: 'starts_with', value } as const];
  const middle = { createdAt: new Date(Date.UTC(2026, 0, 1) + (TOKENS / 2) * 1000), id: 'x' };

  for (const [name, filter] of [
    ['of everything', {}],
    ['of one container', { scopes: [within('/pci/')] }],
    ['of a rare container', { scopes: [within('/rare/')] }],
    ['of overlapping containers', { scopes: [within('/pci/high/eu/'), within('/pci/'), within('/rare/')] }],
    ['of a type', { type: 'card' }],
    ['of a rare type', { type: 'bank' }],
    ['of a type that there is not', { type: 'token' }],
    ['of metadata', { metadata: { customer: '77' } }],
  ] as const) {
    const whole: TokenFilter = { tenantId, scopes: 'all', ...filter };

    it(`read no more than a page and its total need: ${name}`, async () => {
      expect(await readBy((on) => pageOfTokens(on, whole, { page: 1, size: SIZE }))).to.be.at.most(READ_AT_MOST);
      expect(await readBy((on) => listTokens(on, whole, { limit: SIZE }))).to.be.at.most(READ_AT_MOST);
      expect(await readBy((on) => listTokens(on, whole, { after: middle, limit: SIZE }))).to.be.at.most(READ_AT_MOST);
    });
  }

  it('count off the place of a page far behind in the index', async () => {
    for (const scopes of ['all' as const, [within('/pci/')]]) {
      const page = TOKENS / SIZE / 2;
      const read = await readBy((on) => pageOfTokens(on, { tenantId, scopes }, { page, size: SIZE }));
      expect(read).to.be.at.most(READ_AT_MOST);
    }
  });
});
