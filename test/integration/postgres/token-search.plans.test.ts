import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Queryable } from '../../../src/data/database.ts';
import { pageOfTokens } from '../../../src/data/token-lists.ts';
import { type SearchPage, searchTokens } from '../../../src/data/token-search.ts';
import type { TokenCriterion, TokenTest } from '../../../src/data/token-tests.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

const TOKENS = 20_000;
const VALUES = 2 * TOKENS;
const PAGE: SearchPage = { limit: 10, reach: 100 };
const OFTEN = Buffer.alloc(32, 1);
const hashOf = (text: string): Buffer => Buffer.from(text.padEnd(32, '-'));

interface PlanNode {
  'Relation Name'?: string;
  'Function Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** The rows that a plan took from tables, whether it kept them or not. */
function rowsRead(node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), 0);
  // What the function gives, it has found in the index of metadata.
  if (node['Relation Name'] === undefined && node['Function Name'] !== 'tokens_with_metadata') return below;
  return below + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
}

describe('the plans of searches in a tenant with many tokens', function () {
  this.timeout(30_000);
  let test: TestDatabase;
  const tenantId = randomUUID();
  const [usual, rare] = [randomUUID(), randomUUID()];

  before(async () => {
    test = await createTestDatabase();
    // One in a thousand differs from the others in each respect.
    await test.database.run(
      {
        text: `
          insert into tokens (tenant_id, token_id, type, container, data, metadata, metadata_folded, fingerprint,
            created_by, created_at)
          select $1::uuid, 'token-' || n, case when is_rare then 'bank' else 'card' end,
            case when is_rare then '/rare/' else '/pci/high/' end, '\\x00', '{}',
            jsonb_build_object('customer', 'c' || n, 'site', case when is_rare then 'b' else 'a' end),
            convert_to(rpad('token-' || n, 32, '-'), 'utf8'),
            case when is_rare then $2::uuid else $3::uuid end, now() - make_interval(secs => $4 - n)
          from generate_series(1, $4::integer) n, lateral (select n % 1000 = 500 as is_rare) each`,
      },
      [tenantId, rare, usual, TOKENS],
    );
    await test.database.run(
      {
        text: `
          insert into token_search_hashes (tenant_id, token_id, hash)
          select tenant_id, token_id, hash from tokens, unnest(array[fingerprint, $1::bytea]) hash`,
      },
      [OFTEN],
    );
    await test.database.run({ text: 'analyze tokens, token_search_hashes' });
  });
  after(() => test.dispose());

  /** How many rows of tables the search reads, in all its statements. */
  async function cost(
    alternatives: readonly (readonly TokenCriterion[])[],
    page: SearchPage = PAGE,
  ): Promise<{ matches: number; read: number }> {
    let read = 0;
    const database = databaseWithin(tenantId, test.api);
    const explaining: Queryable = {
      async run<Row>({ text }: { text: string }, values: readonly unknown[] = []): Promise<Row[]> {
        const explained = { text: `explain (analyze, format json) ${text}` };
        const [row] = await database.run<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(explained, values);
        read += rowsRead(row!['QUERY PLAN'][0]!.Plan);
        return database.run<Row>({ text }, values);
      },
    };
    const search = { tenantId, access: { granted: ['all' as const], dataSearchable: [] }, alternatives };
    const { matches } = await searchTokens(explaining, search, page);
    return { matches, read };
  }

  const data: TokenTest = { field: 'data', hash: hashOf('token-700') };
  const card: TokenTest = { field: 'type', value: 'card' };
  for (const [name, alternatives, expected] of [
    ['an id', [[{ field: 'id', value: 'token-700' }]], 1],
    ['a value', [[data]], 1],
    ['either of two values', [[data], [{ field: 'data', hash: hashOf('token-701') }]], 2],
    ['a value, or a customer of one type', [[data], [{ field: 'metadata', key: 'customer', value: 'c9' }, card]], 2],
    ['a fingerprint', [[{ field: 'fingerprint', fingerprint: hashOf('token-700') }]], 1],
    ['metadata that one token has', [[{ field: 'metadata', key: 'Customer', value: 'C700' }]], 1],
    ['metadata that few have', [[{ field: 'metadata', key: 'site', value: 'b' }]], 20],
    [
      'a container and a type',
      [
        [
          { field: 'container', value: '/rare/', isPrefix: false },
          { field: 'type', value: 'bank' },
        ],
      ],
      20,
    ],
    ['the beginning of a container', [[{ field: 'container', value: '/ra', isPrefix: true }]], 20],
    ['a type', [[{ field: 'type', value: 'bank' }]], 20],
    ['a creator', [[{ field: 'created_by', value: rare }]], 20],
    ['what nearly all are', [[card]], 101],
    ['a value that all have', [[{ field: 'data', hash: OFTEN }]], 101],
    ['everything', [[]], 101],
  ] as [string, TokenTest[][], number][]) {
    it(`read no more than they find, of ${name}`, async () => {
      const positive = alternatives.map((tests) => tests.map((each) => ({ test: each, isNegated: false })));
      const { matches, read } = await cost(positive);
      expect(matches).to.equal(expected);
      expect(read, `rows read for ${matches} matches`).to.be.at.most(500);
    });
  }

  it('read no more than they find, of a time', async () => {
    const [newest] = await test.database.run<{ at: Date }>({ text: 'select max(created_at) as at from tokens' });
    const lately: TokenTest = { field: 'created_at', from: new Date(newest!.at.getTime() - 5_000) };
    const { matches, read } = await cost([[{ test: lately, isNegated: false }]]);
    expect(matches).to.equal(6);
    expect(read, `rows read for ${matches} matches`).to.be.at.most(500);
  });

  it('find exactly those of many with the same metadata that meet the other criteria too', async () => {
    const site = (value: string): TokenTest => ({ field: 'metadata', key: 'site', value });
    for (const [tests, expected] of [
      [[site('a'), { field: 'id', value: 'token-700' }], 1],
      [[site('a'), { field: 'type', value: 'bank' }], 0],
      [[site('a'), site('b')], 0],
      [[site('a'), { field: 'metadata', key: 'customer', value: 'c700' }], 1],
      [[site('a'), card], 101],
    ] as [TokenTest[], number][]) {
      const { matches } = await cost([tests.map((each) => ({ test: each, isNegated: false }))]);
      expect(matches).to.equal(expected);
    }
  });

  it('are followed by lists of metadata that nearly all have, newest first and counted one by one', async () => {
    const database = databaseWithin(tenantId, test.api);
    const filter = { tenantId, scopes: 'all' as const, metadata: { Site: 'A' } };
    const { rows, total } = await pageOfTokens(database, filter, { page: 2, size: 3 });
    expect(rows.map(({ id }) => id)).to.deep.equal([3, 4, 5].map((back) => `token-${TOKENS - back}`));
    expect(total).to.equal(TOKENS - TOKENS / 1_000);
  });

  const without = (test: TokenTest): TokenCriterion => ({ test, isNegated: true });
  for (const [name, criteria, expected] of [
    ['a value that all have', [without({ field: 'data', hash: OFTEN })], 0],
    ['the type that nearly all have', [without(card)], 20],
    [
      'a value that all have, of a type',
      [{ test: card, isNegated: false }, without({ field: 'data', hash: OFTEN })],
      0,
    ],
  ] as [string, TokenCriterion[], number][]) {
    it(`read each token of the tenant, and each of its values, once at most, without ${name}`, async () => {
      const { matches, read } = await cost([criteria]);
      expect(matches).to.equal(expected);
      expect(read).to.be.at.most(TOKENS + VALUES + 500);
    });
  }

  it('stop reading where more is found than is counted, without a value that one has', async () => {
    const criteria = [without(data)];
    expect(await cost([criteria])).to.have.property('matches', 101);
    for (const page of [PAGE, { ...PAGE, after: { createdAt: new Date(), id: '' } }]) {
      const { read } = await cost([criteria], page);
      expect(read).to.be.at.most(1_000);
    }
  });
});
