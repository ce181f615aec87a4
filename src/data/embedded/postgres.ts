import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import { locateBinaries } from './binaries.ts';
import { PASSWORD_FILE, prepareCluster, SUPERUSER, SYSTEM_HOME } from './cluster.ts';
import { findDataDirectory, findRunningServer } from './running.ts';
import { startServer } from './server.ts';
import { findServerUser } from './server-user.ts';

export interface EmbeddedPostgres {
  /** Holds the password. */
  readonly connectionString: string;
  /** Disconnects every client and ends Postgres. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Keeps the database (`postgres`), its password and its log; made where it does not exist. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Called where Postgres ends without having been asked to. */
  readonly onExit?: () => void;
  /** Whether the first start waits until the new database is on disk; only tests can do without. */
  readonly syncInitdb?: boolean;
}

/**
 * Starts a Postgres of our own over a data folder. It ends with this process, however that ends. As root it runs under
 * another account, and lies elsewhere where that one cannot enter the data folder.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { logger, onExit, syncInitdb = true } = options;
  const dataDir = resolve(options.dataDir);
  const user = await findServerUser();
  // Another user may pass through it to the database, but not look around.
  await mkdir(dataDir, { recursive: true, mode: user === undefined ? 0o700 : 0o711 });
  const binaries = await locateBinaries(user === undefined ? dataDir : SYSTEM_HOME, user, logger);
  const { folder, password } = await prepareCluster({ dataDir, user, logger, binaries, syncInitdb });
  const urlOf = (port: number): string => connectionStringOf(port, password);
  const server = await startServer({ binaries, folder, logFile: join(dataDir, 'postgres.log'), user }, urlOf);
  logger.info({ port: server.port, user: user?.name }, 'Postgres started');

  let stopping = false;
  void server.exited.then(() => {
    if (stopping) return;
    logger.error({}, 'Postgres ended unexpectedly');
    onExit?.();
  });
  return {
    connectionString: urlOf(server.port),
    async stop() {
      stopping = true;
      await server.stop();
    },
  };
}

/** Whether a data folder has a Postgres, running or not. */
export async function hasEmbeddedPostgres(dataDir: string): Promise<boolean> {
  return (await findDataDirectory(dataDir)) !== undefined;
}

/** How the Postgres of a data folder is reached that another process has started; undefined where none runs there. */
export async function findRunningPostgres(dataDir: string): Promise<string | undefined> {
  const folder = await findDataDirectory(dataDir);
  const server = folder === undefined ? undefined : await findRunningServer(folder);
  if (server === undefined) return undefined;
  return connectionStringOf(server.port, await readFile(join(dataDir, PASSWORD_FILE), 'utf8'));
}

function connectionStringOf(port: number, password: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
}
