import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { insertToken, insertTokens } from '../../../src/data/token-inserts.ts';
import type { TokenFilter } from '../../../src/data/token-filters.ts';
import { listTokens, pageOfTokens, type TokenPosition } from '../../../src/data/token-lists.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, newLog, newToken } from '../../support/rows.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

describe('lists of tokens in Postgres', () => {
  let test: TestDatabase;
  const tenantId = randomUUID();
  const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

  before(async () => {
    test = await createTestDatabase();
    await insertTokens(
      test.database,
      [
        newToken(tenantId, { id: 'card-1', container: '/pci/high/', type: 'card', createdAt: at(1) }),
        newToken(tenantId, { id: 'card-2', container: '/pci/high/eu/', type: 'card', createdAt: at(2) }),
        newToken(tenantId, { id: 'card_3', container: '/pci/highest/', createdAt: at(2) }),
        newToken(tenantId, { id: 'ssn%1', container: '/pii/', fingerprint: Buffer.from('f'), createdAt: at(3) }),
        newToken(tenantId, { id: 'tagged', metadata: { Color: 'BLUE', size: 'L' }, createdAt: at(4) }),
        newToken(tenantId, { id: 'also', metadata: { color: 'blue' }, createdAt: at(5) }),
        newToken(tenantId, { id: 'expired', createdAt: at(6), expiresAt: EARLIER() }),
        newToken(randomUUID(), { id: 'foreign', createdAt: at(7) }),
      ],
      [],
    );
  });
  after(() => test.dispose());

  async function ids(filter: Partial<TokenFilter> = {}): Promise<string[]> {
    const whole = { tenantId, scopes: 'all' as const, ...filter };
    const listed = (await listTokens(databaseWithin(tenantId, test.api), whole, { limit: 100 })).map(({ id }) => id);
    const { rows, total } = await pageOfTokens(databaseWithin(tenantId, test.api), whole, { page: 1, size: 100 });
    // Both kinds of list obey the same filters.
    expect(rows.map(({ id }) => id)).to.deep.equal(listed);
    expect(total).to.equal(listed.length);
    return listed;
  }

  it('are newest first, ties by id, without the expired and those of others', async () => {
    expect(await ids()).to.deep.equal(['also', 'tagged', 'ssn%1', 'card_3', 'card-2', 'card-1']);
  });

  for (const [name, filter, expected] of [
    ['a container with its children', { container: '/pci/high/' }, ['card-2', 'card-1']],
    ['a container in upper case', { container: '/PCI/HIGH/EU/' }, ['card-2']],
    ['the root container', { container: '/pci/' }, ['card_3', 'card-2', 'card-1']],
    ['a type', { type: 'card' }, ['card-2', 'card-1']],
    ['a fingerprint', { fingerprint: Buffer.from('f') }, ['ssn%1']],
    ['ids', { ids: ['card-1', 'also', 'foreign', 'expired'] }, ['also', 'card-1']],
    ['metadata, whatever its case', { metadata: { COLOR: 'Blue' } }, ['also', 'tagged']],
    ['several entries of metadata', { metadata: { color: 'blue', Size: 'l' } }, ['tagged']],
    ['a part of a value', { metadata: { color: 'blu' } }, []],
    ['several filters at once', { type: 'card', container: '/pci/high/eu/' }, ['card-2']],
  ] as const) {
    it(`are narrowed by ${name}`, async () => {
      expect(await ids(filter)).to.deep.equal(expected);
    });
  }

  for (const [name, scopes, expected] of [
    ['none', [], []],
    ['one without conditions', [[]], []],
    ['a container', [[{ attribute: 'container', operator: 'starts_with', value: '/PCI/high/' }]], ['card-2', 'card-1']],
    ['an exact container', [[{ attribute: 'container', operator: 'equals', value: '/pci/high/' }]], ['card-1']],
    ['an id', [[{ attribute: 'id', operator: 'equals', value: 'card-2' }]], ['card-2']],
    ['an id in another case', [[{ attribute: 'id', operator: 'equals', value: 'CARD-2' }]], []],
    ['a prefix that would be a wildcard', [[{ attribute: 'id', operator: 'starts_with', value: 'card_' }]], ['card_3']],
    ['a prefix with a percent sign', [[{ attribute: 'id', operator: 'starts_with', value: 'ssn%' }]], ['ssn%1']],
    ['a prefix that tries to be SQL', [[{ attribute: 'id', operator: 'starts_with', value: `' or true --` }]], []],
    [
      'conditions that must all hold',
      [
        [
          { attribute: 'container', operator: 'starts_with', value: '/pci/' },
          { attribute: 'id', operator: 'starts_with', value: 'card-' },
        ],
      ],
      ['card-2', 'card-1'],
    ],
    [
      'either of two',
      [
        [{ attribute: 'id', operator: 'equals', value: 'also' }],
        [{ attribute: 'container', operator: 'equals', value: '/pii/' }],
      ],
      ['also', 'ssn%1'],
    ],
  ] as const) {
    it(`hold what lies in the readable scopes: ${name}`, async () => {
      expect(await ids({ scopes })).to.deep.equal(expected);
    });
  }

  it('come in pages by number with the total, none beyond the last', async () => {
    const page = (number: number) =>
      pageOfTokens(databaseWithin(tenantId, test.api), { tenantId, scopes: 'all' }, { page: number, size: 4 });
    expect((await page(2)).rows.map(({ id }) => id)).to.deep.equal(['card-2', 'card-1']);
    expect(await page(3)).to.deep.equal({ rows: [], total: 6 });
  });

  it('give every token once by cursor, also of those made in the same millisecond, while others are written', async () => {
    const tenant = randomUUID();
    const tokens = Array.from({ length: 25 }, (_, index) =>
      newToken(tenant, { createdAt: at(Math.floor(index / 10)) }),
    );
    await insertTokens(test.database, tokens, []);
    const seen: string[] = [];
    let after: TokenPosition | undefined;
    for (;;) {
      const rows = await listTokens(
        databaseWithin(tenant, test.api),
        { tenantId: tenant, scopes: 'all' },
        { ...(after === undefined ? {} : { after }), limit: 4 },
      );
      if (rows.length === 0) break;
      seen.push(...rows.map(({ id }) => id));
      after = rows.at(-1);
      const late = newToken(tenant, { createdAt: at(100) });
      await insertToken(test.database, late, newLog(tenant, late.id));
    }
    expect(seen).to.have.length(25);
    expect(new Set(seen)).to.deep.equal(new Set(tokens.map(({ id }) => id)));
  });
});
