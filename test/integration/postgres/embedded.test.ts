import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { createDatabase, type Database } from '../../../src/data/database.ts';
import {
  findRunningPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/data/embedded/postgres.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { eventually } from '../../support/eventually.ts';

const PROGRAM = new URL('../../support/embedded-postgres-program.ts', import.meta.url).pathname;
const isRoot = process.getuid?.() === 0;

describe('the embedded Postgres', function () {
  this.timeout(120_000);
  let dataDir: string;
  let server: EmbeddedPostgres | undefined;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tokenkeep-embedded-'));
    await chmod(dataDir, 0o711);
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    const cluster = await realpath(join(dataDir, 'postgres')).catch(() => undefined);
    if (cluster !== undefined) await rm(cluster, { recursive: true, force: true });
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = async (): Promise<EmbeddedPostgres> =>
    (server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, syncInitdb: false }));

  async function withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    const database = createDatabase({ connectionString: server!.connectionString, logger: silentLogger });
    return work(database).finally(() => database.close());
  }

  async function postmasterPid(): Promise<number> {
    return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  }

  const runs = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('finds its data again at the next start', async () => {
    await start();
    await withDatabase((database) => database.run({ text: 'create table kept as select 42 as answer' }));
    await server!.stop();
    await start();
    const rows = await withDatabase((database) => database.run({ text: 'select answer from kept' }));
    expect(rows).to.deep.equal([{ answer: 42 }]);
  });

  it('is found by another program while it runs, and only then', async () => {
    expect(await findRunningPostgres(dataDir)).to.equal(undefined);
    await start();
    expect(await findRunningPostgres(dataDir)).to.equal(server!.connectionString);
    await server!.stop();
    expect(await findRunningPostgres(dataDir)).to.equal(undefined);
  });

  it('is durable, local, and asks for a password that only its owner can read', async () => {
    await start();
    const settings = await withDatabase((database) =>
      database.run<{ setting: string }>({
        text: `
          select setting from pg_settings
          where name in ('fsync', 'full_page_writes', 'listen_addresses', 'synchronous_commit') order by name`,
      }),
    );
    expect(settings.map(({ setting }) => setting)).to.deep.equal(['on', 'on', '127.0.0.1', 'on']);
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o777).to.equal(0o600);
    const url = new URL(server!.connectionString);
    url.password = 'wrong';
    const stranger = createDatabase({ connectionString: url.href, logger: silentLogger });
    const refusal = await stranger.ping().catch((error: unknown) => error);
    await stranger.close();
    expect(refusal).to.have.property('message').that.includes('refused the credentials');
  });

  it('keeps statements, their values and their errors out of its log', async () => {
    const canary = `canary${randomBytes(8).toString('hex')}`;
    await start();
    await withDatabase(async (database) => {
      await database.run({ text: 'create table canaries (value text unique)' });
      const insert = { name: 'canary', text: 'insert into canaries values ($1)' };
      await database.run(insert, [canary]);
      for (const [statement, values] of [
        [insert, [canary]],
        [{ text: 'select $1::int' }, [canary]],
        [{ text: `select '${canary}'::int` }, []],
        [{ text: `select nothing_${canary}` }, []],
      ] as const) {
        expect(await database.run(statement, values).catch((error: unknown) => error)).to.be.instanceOf(Error);
      }
    });
    await server!.stop();
    const log = await readFile(join(dataDir, 'postgres.log'), 'utf8');
    expect(log).to.include('database system is ready').and.not.include(canary);
  });

  it('names a missing password instead of starting anew', async () => {
    await start();
    await server!.stop();
    await unlink(join(dataDir, 'postgres-password'));
    const error = await start().catch((reason: unknown) => reason);
    expect(error).to.have.property('message').that.includes('postgres-password is missing');
  });

  it('makes the database anew where the first start was cut short', async () => {
    await start();
    await server!.stop();
    await rename(join(dataDir, 'postgres'), join(dataDir, 'postgres.unfinished'));
    await start();
    expect(await readdir(dataDir)).not.to.include('postgres.unfinished');
  });

  describe('of another process', () => {
    let program: ChildProcess;

    async function startProgram(): Promise<void> {
      program = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, dataDir], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(createInterface(program.stdout!), 'line');
    }

    afterEach(() => program.kill('SIGKILL'));

    it('ends when that is killed, and its data is there for the next', async () => {
      await startProgram();
      const pid = await postmasterPid();
      program.kill('SIGKILL');
      await start();
      expect(await postmasterPid()).not.to.equal(pid);
      expect(runs(pid)).to.equal(false);
      const rows = await withDatabase((database) => database.run({ text: 'select answer from kept' }));
      expect(rows).to.deep.equal([{ answer: 42 }]);
    });

    it('leaves no process behind when that is killed', async () => {
      await startProgram();
      const pid = await postmasterPid();
      program.kill('SIGKILL');
      await eventually(() => expect(runs(pid)).to.equal(false));
    });
  });

  describe('of root', () => {
    before(function () {
      if (!isRoot) this.skip();
    });

    it('runs under another account', async () => {
      await start();
      expect((await stat(`/proc/${await postmasterPid()}`)).uid).not.to.equal(0);
    });

    it('lies outside of a data folder that only root can enter, and is found there again', async () => {
      await chmod(dataDir, 0o700);
      await start();
      await withDatabase((database) => database.run({ text: 'create table kept as select 42 as answer' }));
      await server!.stop();
      expect((await lstat(join(dataDir, 'postgres'))).isSymbolicLink()).to.equal(true);
      expect(await readlink(join(dataDir, 'postgres'))).to.match(/^\/var\/lib\/tokenkeep\/[0-9a-f]{16}$/);
      await start();
      const rows = await withDatabase((database) => database.run({ text: 'select answer from kept' }));
      expect(rows).to.deep.equal([{ answer: 42 }]);
    });

    it('names a link that leads nowhere instead of starting anew', async () => {
      await chmod(dataDir, 0o700);
      await start();
      await server!.stop();
      await rm(await realpath(join(dataDir, 'postgres')), { recursive: true });
      const error = await start().catch((reason: unknown) => reason);
      expect(error).to.have.property('message').that.includes('points nowhere');
      await unlink(join(dataDir, 'postgres'));
    });
  });
});
