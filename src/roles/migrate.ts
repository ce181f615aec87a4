import type { MigrateConfig } from '../config/migrate.ts';
import { createDatabase } from '../data/database.ts';
import { migrate } from '../data/migrate.ts';
import type { Logger } from '../platform/logger.ts';

/** Brings the schema of a Postgres up to date and ends. */
export async function runMigrate(config: MigrateConfig, logger: Logger): Promise<void> {
  const database = createDatabase({
    connectionString: config.databaseUrl,
    logger,
    poolSize: 1,
    applicationName: 'tokenkeep migrate',
  });
  try {
    await migrate(database, { logger });
  } finally {
    await database.close();
  }
}
