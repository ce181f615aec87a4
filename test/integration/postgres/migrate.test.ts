import { expect } from 'chai';
import { assertDurable } from '../../../src/data/durability.ts';
import { assertMigrated, migrate, readMigrations, SchemaMismatch, type Migration } from '../../../src/data/migrate.ts';
import { runMigrate } from '../../../src/roles/migrate.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres.ts';

describe('migrations', () => {
  let test: TestDatabase;
  const logger = silentLogger;

  beforeEach(async () => {
    test = await createEmptyDatabase();
  });
  afterEach(() => test.dispose());

  const failure = (work: Promise<void>): Promise<unknown> =>
    work.then(
      () => expect.fail('did not fail'),
      (error: unknown) => error,
    );
  async function expectWholeSchema(): Promise<void> {
    const applied = await test.database.run({ text: 'select number, checksum from schema_migrations order by number' });
    expect(applied).to.deep.equal((await readMigrations()).map(({ number, checksum }) => ({ number, checksum })));
    expect(await test.database.run({ text: 'select from tokens, logs' })).to.deep.equal([]);
  }
  const migration = (number: number, sql: string, breaking = false): Migration => ({
    ...{ number, name: `migration_${number}`, sql, checksum: sql, breaking },
  });

  it('are numbered from 1 without a gap', async () => {
    const numbers = (await readMigrations()).map(({ number }) => number);
    expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
  });

  it('make the schema that the program asks for, and then nothing more', async () => {
    await migrate(test.database, { logger });
    await expectWholeSchema();
    await migrate(test.database, { logger });
    await expectWholeSchema();
  });

  it('are applied once by programs that start at the same time', async () => {
    await Promise.all([1, 2, 3].map(() => migrate(test.database, { logger })));
    await expectWholeSchema();
  });

  it('are applied by the role', async () => {
    const config = { databaseUrl: test.connectionString, logLevel: 'silent', logFormat: 'json' } as const;
    const lines: string[] = [];
    await runMigrate(config, { logger, write: (line) => lines.push(line) });
    await expectWholeSchema();
    // The users of the test run are members of both groups.
    expect(lines).to.deep.equal([]);
  });

  it('are asked for by a command that changes no schema', async () => {
    expect(await failure(assertMigrated(test.database)))
      .to.be.an.instanceOf(SchemaMismatch)
      .with.property('message')
      .that.matches(/behind this version by \d+ migrations.*run "tokenkeep migrate"/);
    await migrate(test.database, { logger });
    await assertMigrated(test.database);
  });

  it('are all undone where one fails', async () => {
    const migrations = [migration(1, 'create table one (a int)'), migration(2, 'create table one (a int)')];
    expect(await failure(migrate(test.database, { logger, migrations }))).to.have.property('code', '42P07');
    await migrate(test.database, { logger, migrations: migrations.slice(0, 1) });
  });

  it('refuse an applied one whose file was edited', async () => {
    await migrate(test.database, { logger, migrations: [migration(1, 'select 1')] });
    const error = await failure(migrate(test.database, { logger, migrations: [migration(1, 'select 2')] }));
    expect(error).to.be.instanceOf(SchemaMismatch).with.property('message').that.includes('with other contents');
  });

  it('let an older program work with a newer schema, unless that breaks it', async () => {
    const [first, compatible] = [migration(1, 'select 1'), migration(2, 'select 2')];
    await migrate(test.database, { logger, migrations: [first, compatible] });
    await migrate(test.database, { logger, migrations: [first] });
    await migrate(test.database, { logger, migrations: [first, compatible, migration(3, 'select 3', true)] });
    const error = await failure(migrate(test.database, { logger, migrations: [first] }));
    expect(error).to.be.instanceOf(SchemaMismatch).with.property('message').that.includes('run a newer version');
  });
});

describe('durability', () => {
  let test: TestDatabase;

  beforeEach(async () => {
    test = await createEmptyDatabase();
  });
  afterEach(() => test.dispose());

  it('is given as Postgres comes', async () => {
    await assertDurable(test.database);
  });

  it('is refused where commits are confirmed before they are safe, saying what to set', async () => {
    await test.database.transaction(async (transaction) => {
      await transaction.run({ text: 'set local synchronous_commit = off' });
      const error = await assertDurable(transaction).catch((e: unknown) => e);
      expect(error).to.have.property('message').that.includes('set synchronous_commit to on');
    });
  });
});
