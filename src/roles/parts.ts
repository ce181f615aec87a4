import type { PartsConfig } from '../config/parts-settings.ts';
import { createDatabase, type Database } from '../data/database.ts';
import { findRunningPostgres, hasEmbeddedPostgres, startEmbeddedPostgres } from '../data/embedded/postgres.ts';
import { assertMigrated } from '../data/migrate.ts';
import type { KeyManagement } from '../keys/key-management.ts';
import { lockFolder } from '../platform/folder-lock.ts';
import type { Logger } from '../platform/logger.ts';
import { createShutdownStack, type ShutdownStack } from '../platform/shutdown.ts';
import { findKeyManagement } from './key-management.ts';

/** The database that a command works on, as its owner or as who maintains it. */
export interface CommandDatabase {
  readonly database: Database;
  /** May hold a password. */
  readonly connectionString: string;
  close(): Promise<void>;
}

/** What commands work on beside a vault that may be running: its database and its key management. */
export interface Parts extends CommandDatabase {
  readonly keyManagement: KeyManagement;
}

/**
 * The Postgres that was named, or that of the data folder: the one that runs there, else one that is started, with the
 * folder taken for as long.
 */
async function findPostgres(
  { databaseUrl, maintenanceDatabaseUrl, dataDir }: PartsConfig,
  { logger, shutdown, alone }: { logger: Logger; shutdown: ShutdownStack; alone: boolean },
): Promise<string> {
  const lock = async (): Promise<void> => {
    const held = await lockFolder(dataDir, '--data-dir');
    shutdown.push('data folder', () => held.release());
  };
  if (alone) await lock();
  const running = maintenanceDatabaseUrl ?? databaseUrl ?? (await findRunningPostgres(dataDir));
  if (running !== undefined) return running;
  if (!(await hasEmbeddedPostgres(dataDir))) {
    throw new Error(`${dataDir} holds no vault: give its --data-dir, or the --database-url of its Postgres`);
  }
  if (!alone) await lock();
  const postgres = await startEmbeddedPostgres({ dataDir, logger });
  shutdown.push('Postgres', () => postgres.stop());
  return postgres.connectionString;
}

/**
 * Opens the database alone. Refuses one whose schema is not this program's, and, `alone`, a data folder whose vault is
 * running.
 */
export async function openCommandDatabase(
  config: PartsConfig,
  { logger, alone = false }: { logger: Logger; alone?: boolean },
): Promise<CommandDatabase> {
  const shutdown = createShutdownStack({ logger });
  try {
    const connectionString = await findPostgres(config, { logger, shutdown, alone });
    const database = createDatabase({ connectionString, logger, poolSize: 4, applicationName: 'tokenkeep command' });
    shutdown.push('database pool', () => database.close());
    await assertMigrated(database);
    return { database, connectionString, close: () => shutdown.run() };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

/** Opens both; what was opened is closed again where a part of it cannot be. */
export async function openParts(config: PartsConfig, logger: Logger): Promise<Parts> {
  const opened = await openCommandDatabase(config, { logger });
  const { database, connectionString } = opened;
  try {
    const keyManagement = await findKeyManagement(config, { database, logger });
    const close = async (): Promise<void> => {
      await keyManagement.close();
      await opened.close();
    };
    return { database, connectionString, keyManagement, close };
  } catch (error) {
    await opened.close();
    throw error;
  }
}
