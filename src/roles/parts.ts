import { join } from 'node:path';
import type { PartsConfig } from '../config/parts-settings.ts';
import { createDatabase, type Database } from '../data/database.ts';
import { hasDataKeys } from '../data/data-keys.ts';
import { findRunningPostgres, hasEmbeddedPostgres, startEmbeddedPostgres } from '../data/embedded/postgres.ts';
import { assertMigrated } from '../data/migrate.ts';
import type { KeyManagement } from '../keys/key-management.ts';
import { openKeyring } from '../keys/keyring.ts';
import { lockFolder } from '../platform/folder-lock.ts';
import type { Logger } from '../platform/logger.ts';
import { createShutdownStack, type ShutdownStack } from '../platform/shutdown.ts';

/** What commands work on beside a vault that may be running: its database and its key management. */
export interface Parts {
  readonly database: Database;
  readonly keyManagement: KeyManagement;
  close(): Promise<void>;
}

/**
 * The Postgres that was named, or that of the data folder: the one that runs there, else one that is started, with the
 * folder taken for as long.
 */
async function findPostgres(
  { databaseUrl, dataDir }: PartsConfig,
  { logger, shutdown }: { logger: Logger; shutdown: ShutdownStack },
): Promise<string> {
  const running = databaseUrl ?? (await findRunningPostgres(dataDir));
  if (running !== undefined) return running;
  if (!(await hasEmbeddedPostgres(dataDir))) {
    throw new Error(`${dataDir} holds no vault: give its --data-dir, or the --database-url of its Postgres`);
  }
  const lock = await lockFolder(dataDir, '--data-dir');
  shutdown.push('data folder', () => lock.release());
  const postgres = await startEmbeddedPostgres({ dataDir, logger });
  shutdown.push('Postgres', () => postgres.stop());
  return postgres.connectionString;
}

/** Opens both; refuses a database whose schema is not this program's. What was opened is closed again where a part of it cannot be. */
export async function openParts(config: PartsConfig, logger: Logger): Promise<Parts> {
  const shutdown = createShutdownStack({ logger });
  try {
    const connectionString = await findPostgres(config, { logger, shutdown });
    const database = createDatabase({ connectionString, logger, poolSize: 4, applicationName: 'tokenkeep command' });
    shutdown.push('database pool', () => database.close());
    await assertMigrated(database);
    const keyring = join(config.dataDir, 'keyring.json');
    const keyManagement = await openKeyring(keyring, { isNeeded: () => hasDataKeys(database) });
    shutdown.push('key management', () => keyManagement.close());
    return { database, keyManagement, close: () => shutdown.run() };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}
