import { expect } from 'chai';
import { migrate, MigrationBlocked, type Migration, type MigrationPatience } from '../../../src/data/migrate.ts';
import { createLogger, silentLogger } from '../../../src/platform/logger.ts';
import { type DatabaseSession, openDatabaseSession } from '../../support/database-session.ts';
import { eventually } from '../../support/eventually.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres.ts';
import { rejection } from '../../support/rejection.ts';

describe('migrations of a vault at work', () => {
  const migration = (number: number, sql: string): Migration => ({
    ...{ number, name: `migration_${number}`, sql, checksum: sql, breaking: false },
  });
  const migrations = [
    migration(1, 'create table busy (a int)'),
    migration(2, 'create table another (a int)'),
    migration(3, 'alter table another add column b int; alter table busy add column b int'),
  ];
  const impatience: MigrationPatience = { lockMs: 50, firstPauseMs: 10, longestPauseMs: 10, giveUpAfterMs: 300 };
  const takeTurn = `select pg_advisory_xact_lock(hashtext('tokenkeep migrations'))`;
  const waiting = `
    select from pg_locks join pg_database d on d.oid = database and d.datname = current_database()
    where not granted and locktype = $1`;

  const lines: string[] = [];
  const logger = createLogger({ level: 'info', format: 'json', destination: { write: (line) => lines.push(line) } });
  let test: TestDatabase;
  /** In a transaction, as pg_dump is. */
  let other: DatabaseSession;

  beforeEach(async () => {
    lines.splice(0);
    test = await createEmptyDatabase();
    await migrate(test.database, { logger: silentLogger, migrations: migrations.slice(0, 1) });
    other = await openDatabaseSession(test.connectionString);
    await other.query('begin');
  });
  afterEach(async () => {
    await other.end();
    await test.dispose();
  });

  const messages = () => lines.map((line) => (JSON.parse(line) as { message: string }).message);
  const applied = () => test.database.run({ text: 'select number from schema_migrations order by number' });
  const expectWaiting = (text: string, locktype: 'relation' | 'advisory') =>
    eventually(async () => expect(await test.database.run({ text }, [locktype])).to.have.length(1), {
      deadlineMs: 30_000,
    });

  /** Applies all of them, and calls `meanwhile`, at whose end the other's transaction ends. */
  async function whileMigrating(meanwhile: () => Promise<void>, patience?: MigrationPatience): Promise<void> {
    const migrating = migrate(test.database, { logger, migrations, ...(patience === undefined ? {} : { patience }) });
    const ended = meanwhile().finally(() => other.query('rollback'));
    await Promise.allSettled([ended, migrating]);
    await ended;
    await migrating;
    expect(await applied()).to.deep.equal([{ number: 1 }, { number: 2 }, { number: 3 }]);
    expect(await test.database.run({ text: 'select busy.b, another.b from busy, another' })).to.deep.equal([]);
  }

  it('hold up no statement of it for long where a reader is in the way, and come through once that ends', async () => {
    const vault = await openDatabaseSession(test.connectionString);
    await vault.query(`set statement_timeout = '5s'`);
    await other.query('select from busy');
    try {
      await whileMigrating(async () => {
        for (let tries = 1; tries <= 2; tries += 1) {
          await expectWaiting(waiting, 'relation');
          expect(await vault.outcome('select from busy')).to.equal(0);
        }
      });
    } finally {
      await vault.end();
    }
    expect(messages().slice(0, 2).join()).to.match(/^Migration taken back.*pg_dump.*Migration taken back/);
    expect(messages().slice(-2)).to.deep.equal(['Migration applied', 'Migration applied']);
  }).timeout(60_000);

  it('begin anew where they and another transaction wait for each other', async () => {
    await migrate(test.database, { logger: silentLogger, migrations: migrations.slice(0, 2) });
    await other.query('select from busy');
    await whileMigrating(async () => {
      await expectWaiting(waiting, 'relation');
      // Postgres refuses the one that has waited longer, as a rule.
      await other.outcome('select from another');
    });
  }).timeout(60_000);

  it('wait for another migration longer than for a table', async () => {
    await other.query(takeTurn);
    await whileMigrating(
      () => expectWaiting(`${waiting} and waitstart < now() - interval '200 ms'`, 'advisory').then(() => undefined),
      { ...impatience, giveUpAfterMs: 60_000 },
    );
    expect(messages()).to.deep.equal(['Migration applied', 'Migration applied']);
  }).timeout(60_000);

  for (const [holder, statement] of Object.entries({ 'a reader': 'select from busy', 'another migration': takeTurn })) {
    it(`give up where ${holder} does not end, say what to do, and leave nothing behind`, async () => {
      await other.query(statement);
      const error = await rejection(migrate(test.database, { logger, migrations, patience: impatience }));
      expect(error).to.be.an.instanceOf(MigrationBlocked);
      expect(error.message).to.match(/has changed nothing: end what has a table.*pg_dump.*then migrate again/);
      expect(await applied()).to.deep.equal([{ number: 1 }]);
      expect(await test.database.run({ text: `select to_regclass('another') as a` })).to.deep.equal([{ a: null }]);
      expect(messages()).not.to.include('Migration applied');
      await other.query('rollback');
      await migrate(test.database, { logger, migrations, patience: impatience });
      expect(await applied()).to.have.length(3);
    });
  }
});
