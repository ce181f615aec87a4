import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { countTokens, dropEmptyTokenCounts, foldTokenCounts } from '../../../src/data/token-counts.ts';
import { sweepExpiredTokens } from '../../../src/data/token-expiry.ts';
import { Parameters, tokenFilterCondition, type TokenFilter } from '../../../src/data/token-filters.ts';
import { insertTokens } from '../../../src/data/token-inserts.ts';
import { deleteToken, findToken, updateToken } from '../../../src/data/tokens.ts';
import { deleteTenant } from '../../../src/data/tenant-deletion.ts';
import type { Database, Queryable } from '../../../src/data/database.ts';
import type { Condition } from '../../../src/domain/access.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, LATER, newLog, newToken } from '../../support/rows.ts';

const CONTAINERS = ['/', '/a/', '/a/b/', '/a/b/c/', '/ab/', '/z/'];
const TYPES = ['token', 'card'];
const IDS = ['one', 'two', 'three', 'four', 'five'];

type Step =
  | { do: 'create'; id: string; container: string; type: string; expiry: 'never' | 'past' | 'future' }
  | { do: 'move'; id: string; container: string; expiry: 'never' | 'past' }
  | { do: 'delete'; id: string }
  | { do: 'sweep' | 'fold'; most: number }
  | { do: 'clear' };

const container = fc.constantFrom(...CONTAINERS);
const id = fc.constantFrom(...IDS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('create' as const),
    ...{ id, container, type: fc.constantFrom(...TYPES) },
    expiry: fc.constantFrom('never' as const, 'past' as const, 'future' as const),
  }),
  fc.record({
    do: fc.constant('move' as const),
    ...{ id, container, expiry: fc.constantFrom('never' as const, 'past' as const) },
  }),
  fc.record({ do: fc.constant('delete' as const), id }),
  fc.record({ do: fc.constantFrom('sweep' as const, 'fold' as const), most: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('clear' as const) }),
);

const condition: fc.Arbitrary<Condition> = fc.record({
  attribute: fc.constantFrom('container' as const, 'container' as const, 'container' as const, 'id' as const),
  operator: fc.constantFrom('starts_with' as const, 'starts_with' as const, 'equals' as const),
  // Containers in either case, and prefixes that end within a segment.
  value: fc.constantFrom(...CONTAINERS, '/A/', '/a', '/a/b', 't', 'one'),
});
const filter: fc.Arbitrary<Omit<TokenFilter, 'tenantId'>> = fc.record(
  {
    scopes: fc.oneof(fc.constant('all' as const), fc.array(fc.array(condition, { maxLength: 2 }), { maxLength: 3 })),
    container,
    type: fc.constantFrom(...TYPES),
    ids: fc.subarray(IDS),
  },
  { requiredKeys: ['scopes'] },
);

class GaveUp extends Error {}

describe('the counts of tokens, held against counting one by one', () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  const expiresAt = (expiry: 'never' | 'past' | 'future') =>
    expiry === 'never' ? null : expiry === 'past' ? EARLIER() : LATER();

  async function take(on: Queryable, tenantId: string, taken: Step): Promise<unknown> {
    switch (taken.do) {
      case 'create': {
        const { container: where, type, expiry } = taken;
        const token = newToken(tenantId, { id: taken.id, container: where, type, expiresAt: expiresAt(expiry) });
        return insertTokens(on, [token, newToken(tenantId, { container: where, type })], []);
      }
      case 'move': {
        const row = await findToken(on, tenantId, taken.id);
        if (row === undefined) return;
        const change = { container: taken.container, expiresAt: expiresAt(taken.expiry), searchHashes: [] };
        const modified = { modifiedBy: randomUUID(), modifiedAt: new Date() };
        const { cvc: _, ...kept } = row;
        return updateToken(on, row, { ...kept, ...change, ...modified }, newLog(tenantId, taken.id));
      }
      case 'delete': {
        const row = await findToken(on, tenantId, taken.id);
        return row && deleteToken(on, row, newLog(tenantId, taken.id));
      }
      case 'sweep':
        return sweepExpiredTokens(on, taken.most);
      case 'fold':
        return foldTokenCounts(on, taken.most);
      case 'clear':
        return dropEmptyTokenCounts(on, 100);
    }
  }

  async function countOneByOne(database: Database, asked: TokenFilter): Promise<number> {
    const parameters = new Parameters();
    const text = `select count(*)::float8 as total from tokens t where ${tokenFilterCondition(asked, parameters)}`;
    const [row] = await database.run<{ total: number }>({ text }, parameters.values);
    return row!.total;
  }

  it('agree for any filter after any creates, moves, deletes, sweeps and folds, some rolled back', async () => {
    const turn = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 4 }), commits: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 8 }), fc.array(filter, { minLength: 4 }), async (turns, asked) => {
        const tenantId = randomUUID();
        for (const { steps, commits } of turns) {
          await test.database
            .transaction(async (transaction) => {
              for (const taken of steps) await take(transaction, tenantId, taken);
              if (!commits) throw new GaveUp();
            })
            .catch((error: unknown) => {
              if (!(error instanceof GaveUp)) throw error;
            });
          for (const one of [{ scopes: 'all' as const }, ...asked]) {
            const whole = { tenantId, ...one };
            expect(await countTokens(test.database, whole)).to.equal(await countOneByOne(test.database, whole));
          }
        }
        await deleteTenant(test, tenantId);
        while ((await foldTokenCounts(test.database, 100)) > 0);
        expect(await countTokens(test.database, { tenantId, scopes: 'all' })).to.equal(0);
      }),
      { numRuns: 60 },
    );
    await dropEmptyTokenCounts(test.database, 10_000);
    const [left] = await test.database.run<{ count: number }>({
      text: 'select count(*)::integer as count from token_counts',
    });
    expect(left!.count).to.equal(0);
  });
});
