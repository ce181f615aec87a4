import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { insertTokens } from '../../../src/data/token-inserts.ts';
import { listTokens, pageOfTokens } from '../../../src/data/token-lists.ts';
import { normalizeRules } from '../../../src/domain/application-access.ts';
import { scopesOf } from '../../../src/services/tokens/scopes.ts';
import { accessCase, type AccessCase, storedContainer, tokenId } from '../../support/access-cases.ts';
import { createOutcomeCounts } from '../../support/outcome-counts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { judge, mayEver, type ReferenceToken } from '../../support/reference-access.ts';
import { newToken } from '../../support/rows.ts';
import { databaseWithin } from '../../support/tenant-database.ts';

const TOKENS = 300;
const APPLICATIONS = 3_000;

const KINDS = [
  'nothing: held nowhere',
  'nothing: held where no token is',
  'everything by a plain permission',
  'everything by rules',
  'some by container',
  'some by conditions on containers',
  'some by conditions on ids',
  'some by conditions on both',
  'some by several rules',
  'one token',
] as const;
type Kind = (typeof KINDS)[number];

function kindsOf(held: AccessCase, listed: number): Kind[] {
  const scopes = held.rules.filter((rule) => rule.permissions.includes('token:read'));
  if (!mayEver(held, 'token:read')) return ['nothing: held nowhere'];
  if (held.permissions.includes('token:read')) return ['everything by a plain permission'];
  if (listed === 0) return ['nothing: held where no token is'];
  if (listed === TOKENS) return ['everything by rules'];
  const kinds: Kind[] = listed === 1 ? ['one token'] : [];
  if (scopes.length > 1) return [...kinds, 'some by several rules'];
  const attributes = new Set(scopes[0]!.conditions?.map(({ attribute }) => attribute));
  if (attributes.size === 2) return [...kinds, 'some by conditions on both'];
  if (attributes.has('id')) return [...kinds, 'some by conditions on ids'];
  return [...kinds, attributes.has('container') ? 'some by conditions on containers' : 'some by container'];
}

describe('lists of tokens against the reference model', function () {
  this.timeout(180_000);
  const seed = randomInt(2 ** 31);
  const tenantId = randomUUID();
  let test: TestDatabase;
  let tokens: ReferenceToken[];

  before(async () => {
    test = await createTestDatabase();
    const drawn = fc.sample(fc.record({ id: tokenId, container: storedContainer }), { seed, numRuns: 3 * TOKENS });
    const byId = new Map(drawn.map((token) => [token.id, token]));
    for (const { container } of drawn) {
      if (byId.size < TOKENS) byId.set(`card-${byId.size}`, { id: `card-${byId.size}`, container });
    }
    tokens = [...byId.values()].slice(0, TOKENS);
    await insertTokens(
      test.database,
      // Those of another tenant have the same ids and containers.
      [tenantId, randomUUID()].flatMap((tenant) => tokens.map((token) => newToken(tenant, token))),
      [],
    );
  });
  after(() => test.dispose());

  it(`hold and count exactly what ${APPLICATIONS.toLocaleString('en')} random applications may read`, async () => {
    const outcomes = createOutcomeCounts(KINDS);
    await fc.assert(
      fc.asyncProperty(accessCase, async (held) => {
        const scopes = scopesOf({ permissions: held.permissions, rules: normalizeRules(held.rules) }, 'token:read');
        const [rows, { total }] = await Promise.all([
          listTokens(databaseWithin(tenantId, test.api), { tenantId, scopes }, { limit: 2 * TOKENS }),
          pageOfTokens(databaseWithin(tenantId, test.api), { tenantId, scopes }, { page: 1, size: 1 }),
        ]);
        const expected = tokens.filter((token) => judge(held, 'token:read', token).allowed).map(({ id }) => id);
        expect(rows.map(({ id }) => id).sort()).to.deep.equal(expected.sort());
        expect(total).to.equal(expected.length);
        for (const kind of kindsOf(held, expected.length)) outcomes.count(kind);
      }),
      { numRuns: APPLICATIONS, seed },
    );
    process.stdout.write(`      seed ${seed}, ${TOKENS} tokens each\n${outcomes.toString()}`);
    expect(outcomes.missing).to.deep.equal([]);
  });
});
