import { spawn, type ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createDatabase } from '../../src/data/database.ts';
import { locateBinaries } from '../../src/data/embedded/binaries.ts';
import { asUser, findServerUser, type ServerUser } from '../../src/data/embedded/server-user.ts';
import { API_ROLE, SWEEPER_ROLE } from '../../src/data/group-roles.ts';
import { migrate } from '../../src/data/migrate.ts';
import { silentLogger } from '../../src/platform/logger.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import type { TestDatabase } from './postgres.ts';

const run = promisify(execFile);

/** What an operator keeps of a Postgres: a base backup, and the WAL since. */
export interface Backup {
  readonly base: string;
  readonly wal: string;
}

/** A Postgres of a test's own that archives its WAL. */
export interface ArchivingPostgres {
  /** Its one database, with the whole schema. */
  openDatabase(): Promise<TestDatabase>;
  /** Copies its files, as base backups do. */
  takeBaseBackup(): Promise<string>;
  /** The base backup with all WAL until now. */
  keepWal(base: string): Promise<Backup>;
  stop(): Promise<void>;
}

/** Makes the Postgreses of a test, and removes whatever they have left. */
export interface PostgresArchive {
  start(): Promise<ArchivingPostgres>;
  /** Another server, recovered from a backup. */
  restore(backup: Backup): Promise<ArchivingPostgres>;
  dispose(): Promise<void>;
}

export async function createPostgresArchive(): Promise<PostgresArchive> {
  const user = await findServerUser();
  const home = await mkdtemp(join(tmpdir(), 'tokenkeep-archive-'));
  // As root, Postgres runs under another account, which must reach its files.
  await chmod(home, 0o711);
  const binaries = await locateBinaries(join(home, 'binaries'), user, silentLogger);
  const servers: ArchivingPostgres[] = [];
  let folders = 0;

  async function newFolder(): Promise<string> {
    const folder = join(home, String(folders++));
    await mkdir(folder, { mode: 0o700 });
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    return folder;
  }

  async function launch(data: string, settings: Record<string, string>): Promise<ArchivingPostgres> {
    const archive = await newFolder();
    const port = await freePort();
    const child = spawnServer(join(binaries, 'bin', 'postgres'), data, user, {
      ...{ port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' },
      ...{ wal_level: 'replica', archive_mode: 'on', archive_command: `cp %p ${archive}/%f` },
      // A crash of the machine is not what is tested here.
      ...{ fsync: 'off', max_connections: '60' },
      ...settings,
    });
    const connectionString = `postgres://tokenkeep@127.0.0.1:${port}/postgres`;
    const server = {
      openDatabase: () => openDatabase(connectionString),
      takeBaseBackup: async () => copyFiles(connectionString, data, await newFolder()),
      async keepWal(base: string) {
        await archiveWal(connectionString, archive);
        const wal = await newFolder();
        await run('cp', ['-a', `${archive}/.`, wal]);
        return { base, wal };
      },
      stop: () => stopServer(child),
    };
    servers.push(server);
    // Not before it has recovered all, and writes.
    await eventually(() => query(connectionString, 'create temporary table writable ()'), { deadlineMs: 60_000 });
    return server;
  }

  return {
    async start() {
      const data = await newFolder();
      const args = ['-D', data, '--username', 'tokenkeep', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync'];
      await run(join(binaries, 'bin', 'initdb'), [...args, '--no-locale'], { ...asUser(user), cwd: '/' });
      const server = await launch(data, {});
      const opened = await server.openDatabase();
      await migrate(opened.database, { logger: silentLogger });
      await opened.dispose();
      return server;
    },
    async restore({ base, wal }) {
      const data = await newFolder();
      await run('cp', ['-a', `${base}/.`, data]);
      await writeFile(join(data, 'recovery.signal'), '');
      if (user !== undefined) await chown(join(data, 'recovery.signal'), user.uid, user.gid);
      return launch(data, { restore_command: `cp ${wal}/%f %p`, recovery_target_timeline: 'latest' });
    },
    async dispose() {
      await Promise.all(servers.map((server) => server.stop()));
      await rm(home, { recursive: true, force: true });
    },
  };
}

function spawnServer(
  program: string,
  data: string,
  user: ServerUser | undefined,
  settings: Record<string, string>,
): ChildProcess {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(program, ['-D', data, ...flags], {
    ...asUser(user),
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: 'ignore',
  });
  const killChild = (): void => void child.kill('SIGQUIT');
  process.once('exit', killChild);
  child.once('exit', () => process.off('exit', killChild));
  return child;
}

async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  await exited;
}

async function query(connectionString: string, sql: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, string>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function openDatabase(connectionString: string): Promise<TestDatabase> {
  const [logger, urls] = [
    silentLogger,
    { apiConnectionString: connectionString, sweeperConnectionString: connectionString },
  ];
  const database = createDatabase({ connectionString, logger });
  const api = createDatabase({ connectionString, logger, tenantScoped: true, role: API_ROLE });
  const maintenance = createDatabase({ connectionString, logger, poolSize: 4, role: SWEEPER_ROLE });
  return {
    ...{ connectionString, database, api, maintenance, ...urls },
    async dispose() {
      await Promise.all([database, api, maintenance].map((pool) => pool.close()));
    },
  };
}

/** PostgreSQL manual, 25.3.4 "Making a Base Backup Using the Low Level API". */
async function copyFiles(connectionString: string, data: string, base: string): Promise<string> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('test', true)`);
    await cp(data, base, {
      recursive: true,
      preserveTimestamps: true,
      filter: (file) => basename(file) !== 'postmaster.pid' && !file.includes('/pg_wal/'),
    });
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await writeFile(join(base, 'backup_label'), rows[0]!.labelfile);
  } finally {
    await client.end();
  }
  await run('chown', ['-R', `--reference=${data}`, base]);
  return base;
}

async function archiveWal(connectionString: string, archive: string): Promise<void> {
  const [segment] = await query(connectionString, 'select pg_walfile_name(pg_current_wal_insert_lsn()) as name');
  await query(connectionString, 'select pg_switch_wal()');
  await eventually(() => access(join(archive, segment!['name']!)), { deadlineMs: 60_000 });
}
