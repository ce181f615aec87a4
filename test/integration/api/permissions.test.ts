import { expect } from 'chai';
import { TRANSFORMS, type Transform } from '../../../src/domain/access.ts';
import { APPLICATION_TYPES, type ApplicationType } from '../../../src/domain/applications.ts';
import { mayHold, type Permission, PERMISSION_NAMES } from '../../../src/domain/permissions.ts';
import { declaredRoutes } from '../../support/declared-routes.ts';
import { readContract } from '../../support/openapi.ts';
import { makeBadKeys } from '../../support/permission-matrix/bad-keys.ts';
import { type EndpointRow, type Holder, HOLDERS, readMatrix } from '../../support/permission-matrix/matrix.ts';
import { MASKED, PLAINTEXT, REQUESTS } from '../../support/permission-matrix/requests.ts';
import { type PlainAnswer, send } from '../../support/permission-matrix/send.ts';
import { createTenancy, everything, type Tenancy } from '../../support/permission-matrix/tenancy.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const { endpoints, permissions } = await readMatrix();

/** Those of which every method is answered alike. */
const unservedPaths = endpoints.flatMap(({ endpoint }) => (endpoint.startsWith('any ') ? [endpoint.slice(4)] : []));

async function mapAll<Key, Value>(
  keys: Iterable<Key>,
  valueOf: (key: Key) => Promise<Value>,
): Promise<Map<Key, Value>> {
  return new Map(await Promise.all([...keys].map(async (key) => [key, await valueOf(key)] as const)));
}

/** The type of an application that may hold the permission: the first of several. */
function typeOf(permission: Permission): ApplicationType {
  return APPLICATION_TYPES.find((type) => mayHold(type, permission))!;
}

function shownIn({ status, text }: PlainAnswer): string {
  if (status >= 400) return String(status);
  if (text.includes(PLAINTEXT)) return 'plaintext';
  return text.includes(MASKED) ? 'mask' : 'nothing';
}

describe('the permission matrix', function () {
  this.timeout(60_000);
  let vault: TestVault;
  let tenancy: Tenancy;
  let badKeys: ReadonlyMap<string, string>;
  /** Keys that hold one permission each. */
  let keyWith: ReadonlyMap<Permission, string>;
  /** Keys whose one rule grants everything about tokens everywhere. */
  let keyShowing: ReadonlyMap<Transform, string>;
  /** Keys that may do whatever their kind ever may. */
  let keyOf: Readonly<Record<Holder, string>>;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    tenancy = await createTenancy(vault);
    const { tenantId } = tenancy;
    badKeys = await makeBadKeys(vault, tenancy);
    keyWith = await mapAll(PERMISSION_NAMES, async (name) => {
      const type = typeOf(name);
      // By a rule that reveals: what some endpoints ask for in addition.
      const access =
        type === 'management' ? { permissions: [name] } : { rules: [{ ...everything('reveal'), permissions: [name] }] };
      return (await vault.application({ tenantId, type, permissions: [], ...access })).key;
    });
    keyShowing = await mapAll(TRANSFORMS, async (transform) => {
      return (await vault.application({ tenantId, permissions: [], rules: [everything(transform)] })).key;
    });
    const collecting = { ...everything('reveal'), permissions: ['token:create', 'token:update'] as Permission[] };
    keyOf = {
      private: keyShowing.get('reveal')!,
      public: (await vault.application({ tenantId, type: 'public', permissions: [], rules: [collecting] })).key,
      management: tenancy.keys.management,
      session: await tenancy.sessionKey([everything('reveal')]),
    };
  });
  after(() => vault.stop());

  it('has a row and a request for every endpoint, and none for others', async () => {
    const { operations, unservedOperations } = await readContract(vault);
    const served = operations
      .filter((operation) => !unservedOperations.includes(operation))
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    // The document has what clients know of paths that are not served; every method is answered there.
    const unserved = (await declaredRoutes()).flatMap(({ method, path }) => (method === 'all' ? [`any ${path}`] : []));
    expect(endpoints.map(({ endpoint }) => endpoint).sort()).to.deep.equal([...served, ...unserved].sort());
    expect(Object.keys(REQUESTS)).to.have.members(endpoints.map(({ endpoint }) => endpoint));
  });

  it('has a row for every permission, and none for others', () => {
    expect(permissions.map((row) => row['Permission'])).to.deep.equal(PERMISSION_NAMES);
  });

  async function answerTo(row: EndpointRow, key: string | undefined): Promise<PlainAnswer> {
    const build = REQUESTS[row.endpoint]!;
    return send(vault, row.endpoint, build(await tenancy.subjectsFor(row.endpoint, build)), key);
  }

  /** The one request that all are refused, and that then goes through: nothing else stood against it. */
  async function expectOnlyThePermissionOpens(row: EndpointRow, permission: Permission): Promise<void> {
    const build = REQUESTS[row.endpoint]!;
    const request = build(await tenancy.subjectsFor(row.endpoint, build));
    const statusOf = async (key: string | undefined) => (await send(vault, row.endpoint, request, key)).status;
    const others = PERMISSION_NAMES.filter((name) => name !== permission);

    const statuses = await mapAll(others, (name) => statusOf(keyWith.get(name)));
    expect([...statuses]).to.deep.equal(others.map((name) => [name, row.withoutPermission]));
    expect(await statusOf(undefined), 'no key').to.equal(row.withoutKey);
    expect(await statusOf(keyWith.get(permission)), permission).to.equal(row.success);
  }

  async function expectEveryPermissionOpens(row: EndpointRow): Promise<void> {
    const statuses = await mapAll(PERMISSION_NAMES, async (name) => (await answerTo(row, keyWith.get(name))).status);
    const expected = (name: Permission) => (row.holders.includes(typeOf(name)) ? row.success : row.withoutPermission);
    expect([...statuses]).to.deep.equal(PERMISSION_NAMES.map((name) => [name, expected(name)]));
    expect((await answerTo(row, undefined)).status, 'no key').to.equal(row.withoutKey);
  }

  async function expectOfHolders(row: EndpointRow): Promise<void> {
    const statuses = await mapAll(HOLDERS, async (holder) => (await answerTo(row, keyOf[holder])).status);
    const expected = (holder: Holder) => (row.holders.includes(holder) ? row.success : row.withoutPermission);
    expect([...statuses]).to.deep.equal(HOLDERS.map((holder) => [holder, expected(holder)]));
  }

  async function expectBadKeysAllAlike(row: EndpointRow): Promise<void> {
    const build = REQUESTS[row.endpoint]!;
    const request = build(await tenancy.subjectsFor(row.endpoint, build));
    const none = await send(vault, row.endpoint, request, undefined);
    const answers = await mapAll(badKeys.keys(), (reason) => send(vault, row.endpoint, request, badKeys.get(reason)));
    for (const [reason, answer] of answers) {
      expect(answer, reason).to.deep.equal(none);
      expect(answer.status, reason).to.equal(row.withBadKey);
    }
  }

  async function expectShown(row: EndpointRow): Promise<void> {
    const keys = new Map([['plain', tenancy.keys.private], ...keyShowing]);
    const shown = await mapAll(keys.keys(), async (how) => shownIn(await answerTo(row, keys.get(how))));
    expect(Object.fromEntries(shown)).to.deep.equal(row.shows);
  }

  for (const path of unservedPaths) {
    it(`answers every method alike on ${path} and below it`, async () => {
      const { success, withoutKey } = endpoints.find(({ endpoint }) => endpoint === `any ${path}`)!;
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        for (const place of [path, `${path}/below`, `${path}/below/that`]) {
          const statusWith = async (key?: string) => (await send(vault, method, { path: place }, key)).status;
          expect(await statusWith(keyOf.public), `${method} ${place}`).to.equal(success);
          expect(await statusWith(), `${method} ${place}, no key`).to.equal(withoutKey);
        }
      }
    });
  }

  for (const row of endpoints) {
    it(row.endpoint, async () => {
      if (row.permission === undefined) await expectEveryPermissionOpens(row);
      else await expectOnlyThePermissionOpens(row, row.permission);
      await expectOfHolders(row);
      await expectBadKeysAllAlike(row);
      if (row.shows !== undefined) await expectShown(row);
    });
  }
});
