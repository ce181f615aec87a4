import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createDatabase, type Database } from '../../../src/data/database.ts';
import { StatementTimeout } from '../../../src/data/failures.ts';
import { withinTenant } from '../../../src/data/tenant-scope.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

const SEEN = { name: 'test-seen', text: 'select tenant_id as tenant from tenants' };

async function seenBy(database: Pick<Database, 'run'>): Promise<string[]> {
  return (await database.run<{ tenant: string }>(SEEN)).map(({ tenant }) => tenant);
}

describe('a database that is confined to the tenant in scope', () => {
  let test: TestDatabase;
  let database: Database;
  let first: string;
  let second: string;

  before(async () => {
    test = await createTestDatabase();
    [first, second] = [await storedTenant(test.database), await storedTenant(test.database)];
    const connectionString = test.apiConnectionString;
    // One connection, so that each statement finds what the one before left.
    database = createDatabase({ connectionString, logger: silentLogger, tenantScoped: true, poolSize: 1 });
  });
  after(async () => {
    await database.close();
    await test.dispose();
  });

  const expectOwn = async (): Promise<void> => {
    for (const tenant of [first, second, second, first]) {
      expect(await withinTenant(tenant, () => seenBy(database))).to.deep.equal([tenant]);
    }
    expect(await seenBy(database)).to.deep.equal([]);
    expect(await withinTenant(first, () => seenBy(database))).to.deep.equal([first]);
  };

  it('shows each tenant its own rows, and nobody any out of scope, on one connection', expectOwn);

  it('sets the tenant only where it is another than before', async () => {
    const text = `select generic_plans + custom_plans as times from pg_prepared_statements where name = 'enter-tenant'`;
    const timesSet = () => withinTenant(first, () => database.run<{ times: string }>({ text }));
    const before = await timesSet();
    for (let round = 0; round < 5; round++) await withinTenant(first, () => seenBy(database));
    expect(await timesSet()).to.deep.equal(before);
    await withinTenant(second, () => seenBy(database));
    expect(Number((await timesSet())[0]!.times)).to.equal(Number(before[0]!.times) + 2);
  });

  it('shows a transaction the rows of its tenant until it ends, and the next one those of its own', async () => {
    const inTransaction = (tenant: string) =>
      withinTenant(tenant, () => database.transaction(async (on) => [await seenBy(on), await seenBy(on)]));
    expect(await inTransaction(first)).to.deep.equal([[first], [first]]);
    expect(await inTransaction(second)).to.deep.equal([[second], [second]]);
    await expectOwn();
  });

  for (const [name, fail] of [
    ['a statement that Postgres refuses', () => database.run({ text: 'select 1 / 0' })],
    ['a statement that cannot be parsed', () => database.run({ text: 'selec' })],
    [
      'a transaction that is rolled back',
      () =>
        database.transaction(async (on) => {
          await seenBy(on);
          throw new Error('taken back');
        }),
    ],
    ['a transaction that a statement aborts', () => database.transaction((on) => on.run({ text: 'select 1 / 0' }))],
    ['a lost connection', () => database.run({ text: 'select pg_terminate_backend(pg_backend_pid())' })],
  ] as const) {
    it(`leaves no tenant behind after ${name}`, async () => {
      await withinTenant(first, () => seenBy(database));
      const error = await withinTenant(second, () =>
        fail().then(
          () => undefined,
          (caught: unknown) => caught,
        ),
      );
      expect(error).to.be.an.instanceOf(Error);
      expect(await withinTenant(first, () => seenBy(database))).to.deep.equal([first]);
      await expectOwn();
    });
  }

  it('leaves no tenant behind after a statement that takes too long', async () => {
    const connectionString = test.apiConnectionString;
    const impatient = createDatabase({
      ...{ connectionString, logger: silentLogger, tenantScoped: true, poolSize: 1, statementTimeoutMs: 500 },
    });
    try {
      const slow = () => impatient.run({ text: 'select pg_sleep(30)' }).catch((error: unknown) => error);
      expect(await withinTenant(first, slow)).to.be.an.instanceOf(StatementTimeout);
      expect(await withinTenant(second, () => seenBy(impatient))).to.deep.equal([second]);
      expect(await seenBy(impatient)).to.deep.equal([]);
    } finally {
      await impatient.close();
    }
  });

  it('keeps those apart who share few connections and wait for each other', async () => {
    const tenants = await Promise.all(Array.from({ length: 20 }, () => storedTenant(test.database)));
    const work = Array.from({ length: 400 }, async (_, index) => {
      const tenant = index % 21 === 20 ? undefined : tenants[index % 21]!;
      const see = async (): Promise<string[]> => {
        await nextTurn();
        return index % 3 === 0 ? test.api.transaction((on) => seenBy(on)) : seenBy(test.api);
      };
      const seen = await (tenant === undefined ? see() : withinTenant(tenant, see));
      expect(seen).to.deep.equal(tenant === undefined ? [] : [tenant]);
    });
    await Promise.all(work);
  });

  it('refuses what is no tenant, and is sound for the next one', async () => {
    const error = await withinTenant(`${randomUUID()}x`, () => seenBy(database)).catch((caught: unknown) => caught);
    expect(error).to.be.an.instanceOf(Error);
    await expectOwn();
  });
});
