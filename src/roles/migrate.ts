import type { MigrateConfig } from '../config/migrate.ts';
import { createDatabase } from '../data/database.ts';
import { statementsForLogins } from '../data/group-roles.ts';
import { migrate } from '../data/migrate.ts';
import type { Logger } from '../platform/logger.ts';

/**
 * Brings the schema of a Postgres up to date and ends. Writes what an administrator is to run before the vault can
 * connect as users that row-level security holds, where there are none.
 */
export async function runMigrate(
  config: MigrateConfig,
  { logger, write }: { readonly logger: Logger; readonly write: (line: string) => void },
): Promise<void> {
  const database = createDatabase({
    connectionString: config.databaseUrl,
    logger,
    poolSize: 1,
    applicationName: 'tokenkeep migrate',
  });
  try {
    await migrate(database, { logger });
    for (const statement of await statementsForLogins(database)) write(statement);
  } finally {
    await database.close();
  }
}
