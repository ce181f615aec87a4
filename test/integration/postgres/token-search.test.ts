import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { insertTokens } from '../../../src/data/token-inserts.ts';
import { type SearchPage, searchTokens, type TokenSearch } from '../../../src/data/token-search.ts';
import type { TokenCriterion, TokenTest } from '../../../src/data/token-tests.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, newToken } from '../../support/rows.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

const has = (test: TokenTest): TokenCriterion => ({ test, isNegated: false });
const lacks = (test: TokenTest): TokenCriterion => ({ test, isNegated: true });
const hash = (text: string): Buffer => Buffer.from(text.padEnd(32));
const data = (text: string): TokenTest => ({ field: 'data', hash: hash(text) });

const EVERYTHING: TokenSearch['access'] = { granted: ['all'], dataSearchable: [] };

describe('searches of tokens in Postgres', () => {
  let test: TestDatabase;
  const tenantId = randomUUID();
  const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

  before(async () => {
    test = await createTestDatabase();
    await insertTokens(
      test.database,
      [
        newToken(tenantId, { id: 'one', searchHashes: [hash('a'), hash('b')], createdAt: at(1) }),
        newToken(tenantId, { id: 'two', searchHashes: [hash('a')], container: '/x/', createdAt: at(2) }),
        newToken(tenantId, { id: 'tie', searchHashes: [hash('a')], type: 'card', createdAt: at(2) }),
        newToken(tenantId, { id: 'last', fingerprint: Buffer.from('f'), metadata: { K: 'V' }, createdAt: at(3) }),
        newToken(tenantId, { id: 'expired', searchHashes: [hash('a')], createdAt: at(4), expiresAt: EARLIER() }),
        newToken(randomUUID(), { id: 'foreign', searchHashes: [hash('a')], createdAt: at(5) }),
      ],
      [],
    );
  });
  after(() => test.dispose());

  async function found(
    alternatives: TokenCriterion[][],
    { access = EVERYTHING, ...page }: Partial<SearchPage> & { access?: TokenSearch['access'] } = {},
  ) {
    const search = { tenantId, access, alternatives };
    const { rows, matches } = await searchTokens(databaseWithin(tenantId, test.api), search, {
      limit: 10,
      reach: 100,
      ...page,
    });
    return { ids: rows.map(({ id }) => id), matches };
  }

  for (const [name, alternatives, expected] of [
    ['no criterion', [[]], ['last', 'two', 'tie', 'one']],
    ['a hash', [[has(data('a'))]], ['two', 'tie', 'one']],
    ['two hashes', [[has(data('a')), has(data('b'))]], ['one']],
    ['a hash that is not there', [[lacks(data('a'))]], ['last']],
    ['alternatives that overlap', [[has(data('a'))], [has(data('b'))]], ['two', 'tie', 'one']],
    ['alternatives of which none is met', [[has(data('c'))], [has(data('d'))]], []],
    ['no fingerprint', [[lacks({ field: 'fingerprint', fingerprint: Buffer.from('f') })]], ['two', 'tie', 'one']],
    ['an impossible fingerprint', [[has({ field: 'fingerprint', fingerprint: null })]], []],
    ['no metadata', [[lacks({ field: 'metadata', key: 'k', value: 'v' })]], ['two', 'tie', 'one']],
    ['an open range', [[has({ field: 'created_at' })]], ['last', 'two', 'tie', 'one']],
  ] as const) {
    for (const reach of [100, 1, 0]) {
      it(`are newest first, ties by id, with ${name}, where ${reach} are within reach`, async () => {
        const { ids, matches } = await found(alternatives as unknown as TokenCriterion[][], { reach });
        expect(ids).to.deep.equal(expected);
        expect(matches).to.equal(Math.min(expected.length, reach + 1));
      });
    }
  }

  for (const reach of [100, 0]) {
    it(`give the same pages by offset and by position, where ${reach} are within reach`, async () => {
      const alternatives = [[has(data('a'))], [has({ field: 'type', value: 'token' })]];
      const whole = ['last', 'two', 'tie', 'one'];
      for (let offset = 0; offset <= whole.length; offset++) {
        const { ids } = await found(alternatives, { offset, limit: 2, reach });
        expect(ids).to.deep.equal(whole.slice(offset, offset + 2));
      }
      const after = { createdAt: at(2), id: 'two' };
      expect((await found(alternatives, { after, limit: 1, reach })).ids).to.deep.equal(['tie']);
    });
  }

  it('count what lies before a page that is empty', async () => {
    expect(await found([[has(data('a'))]], { offset: 50 })).to.deep.equal({ ids: [], matches: 3 });
    expect(await found([[has(data('a'))]], { limit: 0 })).to.deep.equal({ ids: [], matches: 3 });
  });

  it('find only what every grant covers', async () => {
    const inX = [{ attribute: 'container' as const, operator: 'starts_with' as const, value: '/X/' }];
    const general = [{ attribute: 'container' as const, operator: 'starts_with' as const, value: '/general/' }];
    for (const [granted, expected] of [
      [['all', [inX]], ['two']],
      [[[inX], [general]], []],
      [[[inX, general], [inX]], ['two']],
      [['all', [[]]], []],
      [['all', []], []],
    ] as const) {
      const access = { granted: granted as unknown as TokenSearch['access']['granted'], dataSearchable: [] };
      expect((await found([[has(data('a'))]], { access })).ids).to.deep.equal(expected);
    }
  });
});
