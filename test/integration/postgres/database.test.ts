import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { readBounded } from '../../../src/data/bounded-reads.ts';
import { createDatabase, type Database } from '../../../src/data/database.ts';
import { StatementTimeout } from '../../../src/data/failures.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { startFreezingProxy } from '../../support/freezing-proxy.ts';

const SECRET = 'canary-4242424242424242';

describe('the database', () => {
  let test: TestDatabase;
  const opened: Database[] = [];

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });

  function open(options: Partial<Parameters<typeof createDatabase>[0]> = {}): Database {
    const database = createDatabase({ connectionString: test.connectionString, logger: silentLogger, ...options });
    opened.push(database);
    return database;
  }

  const failure = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => expect.fail('did not fail'),
      (error: Error) => error,
    );

  function expectUnavailable(error: Error, message: RegExp): void {
    expect(error).to.be.instanceOf(DomainError).with.property('kind', 'unavailable');
    expect(error.message).to.match(message);
    expect(error.cause).to.equal(undefined);
  }

  it('answers', async () => {
    await open().ping();
    expect(await open().run({ name: 'sum', text: 'select $1::int + 1 as sum' }, [1])).to.deep.equal([{ sum: 2 }]);
  });

  it('says that Postgres is unreachable where nothing listens', async () => {
    const database = open({ connectionString: 'postgres://user:password@127.0.0.1:1/none' });
    expectUnavailable(await failure(database.ping()), /^Postgres is unreachable \(ECONNREFUSED\)$/);
  });

  it('says so where something listens that does not answer', async () => {
    const sockets: Socket[] = [];
    const silent: Server = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const database = open({ connectionString: `postgres://u:p@127.0.0.1:${port}/none`, connectionTimeoutMs: 100 });
    expectUnavailable(await failure(database.ping()), /^Postgres is unreachable/);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('says so where every connection stays in use', async () => {
    const database = open({ poolSize: 1, connectionTimeoutMs: 50 });
    await database.transaction(async () => {
      expectUnavailable(await failure(database.ping()), /^Postgres is unreachable/);
    });
    await database.ping();
  });

  it('gives up a statement that takes too long', async () => {
    const database = open({ statementTimeoutMs: 50 });
    expectUnavailable(await failure(database.run({ text: 'select pg_sleep(10)' })), /did not answer in time.*57014/);
    await database.ping();
  });

  it('goes on with the connection on which a statement took too long', async () => {
    const database = open({ poolSize: 1 });
    const backend = () => database.run({ text: 'select pg_backend_pid() as pid' });
    const before = await backend();
    const slow = readBounded(database, 50, (on) => on.run({ text: 'select pg_sleep(60)' }));
    expect(await failure(slow)).to.be.instanceOf(StatementTimeout);
    expect(await backend()).to.deep.equal(before);
  });

  it('bounds statements, and less so their waits for locks, for one read alone', async () => {
    const database = open({ poolSize: 1 });
    const bounds = { text: `select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l` };
    const before = await database.run(bounds);
    expect(await readBounded(database, 3_000, (on) => on.run(bounds))).to.deep.equal([{ s: '3s', l: '1500ms' }]);
    expect(await database.run(bounds)).to.deep.equal(before);
  });

  it('gives up a connection on which Postgres no longer answers, and goes on with another', async () => {
    const proxy = await startFreezingProxy(test.connectionString);
    const database = open({ connectionString: proxy.connectionString, poolSize: 1, statementTimeoutMs: 50 });
    await database.ping();
    proxy.freeze();
    expectUnavailable(await failure(database.ping()), /^Postgres is unreachable/);
    await database.ping();
    expect(proxy.connections).to.equal(2);
    await database.close();
    opened.splice(0);
    await proxy.close();
  });

  it('waits for an unbounded statement longer than for any other', async () => {
    const database = open({ statementTimeoutMs: 100 });
    await database.transaction(async (transaction) => {
      await transaction.run({ text: 'set local statement_timeout = 0' });
      await transaction.run({ text: 'select pg_sleep(2.2)', unbounded: true });
    });
  }).timeout(10_000);

  it('gives up waiting for a lock', async () => {
    const database = open({ lockTimeoutMs: 50 });
    const lock = { text: 'select pg_advisory_xact_lock(1)' };
    await database.transaction(async (transaction) => {
      await transaction.run(lock);
      expectUnavailable(await failure(database.run(lock)), /lock in time/);
    });
  });

  it('asks to try again where two transactions wait for each other', async () => {
    const database = open();
    const lock = (key: number) => ({ text: `select pg_advisory_xact_lock(${key})` });
    const holds = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const outcomes = await Promise.allSettled(
      [0, 1].map((own) =>
        database.transaction(async (transaction) => {
          await transaction.run(lock(own));
          holds[own]!.resolve();
          await holds[1 - own]!.promise;
          await transaction.run(lock(1 - own));
        }),
      ),
    );
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed).to.have.length(1);
    expectUnavailable(failed[0]!.reason as Error, /concurrent changes.*40P01/);
  });

  it('asks to try again where a concurrent change cannot be serialized', async () => {
    const database = open();
    await database.run({ text: 'create table counted (a int)' });
    await database.run({ text: 'insert into counted values (1)' });
    const outcome = database.transaction(async (transaction) => {
      await transaction.run({ text: 'set transaction isolation level repeatable read' });
      await transaction.run({ text: 'select a from counted' });
      await database.run({ text: 'update counted set a = 2' });
      await transaction.run({ text: 'update counted set a = 3' });
    });
    expectUnavailable(await failure(outcome), /concurrent changes.*40001/);
  });

  it('prepares anew, on another connection, what a migration changed beside it', async () => {
    const database = open({ poolSize: 1 });
    const all = { name: 'all-widened', text: 'select * from widened' };
    await database.run({ text: 'create table widened (a int)' });
    await database.run(all);
    await database.run({ text: 'alter table widened add column b int' });
    expectUnavailable(await failure(database.run(all)), /no longer fits the schema.*0A000/);
    expect(await database.run(all)).to.deep.equal([]);
  });

  it('goes on after its connections were cut', async () => {
    const database = open({ poolSize: 1, applicationName: 'cut me' });
    const outcome = database.transaction(async (transaction) => {
      await transaction.run({ text: 'select 1' });
      await test.database.run({
        text: `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut me'`,
      });
      await transaction.run({ text: 'select 1' });
    });
    expectUnavailable(await failure(outcome), /Postgres/);
    await database.ping();
  });

  it('keeps values, details and SQL out of what it throws', async () => {
    const database = open();
    await database.run({ text: 'create table canaries (value text primary key)' });
    const insert = { name: 'insert-canary', text: 'insert into canaries values ($1)' };
    await database.run(insert, [SECRET]);
    const duplicate = await failure(database.run(insert, [SECRET]));
    expect(duplicate).to.include({ name: 'SqlError', code: '23505', constraint: 'canaries_pkey' });
    const invalid = await failure(database.run({ text: 'select $1::int' }, [SECRET]));
    expect(invalid).to.include({ name: 'SqlError', code: '22P02' });
    for (const error of [duplicate, invalid]) {
      expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.to.include('canary-');
    }
  });

  it('rolls back what a transaction did before it failed', async () => {
    const database = open();
    await database.run({ text: 'create table rolled (a int)' });
    const error = await failure(
      database.transaction(async (transaction) => {
        await transaction.run({ text: 'insert into rolled values (1)' });
        await transaction.run({ text: 'select 1 / 0' });
      }),
    );
    expect(error).to.have.property('code', '22012');
    expect(await database.run({ text: 'select from rolled' })).to.have.length(0);
  });
});
