import type { Setting } from './setting.ts';
import { parseFolder, parseOneOf, parsePostgresUrl } from './values.ts';

/** The same as the logger's; what is configured knows nothing of the platform that obeys it. */
export const CONFIGURABLE_LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export const CONFIGURABLE_LOG_FORMATS = ['json', 'pretty'] as const;

/** What every role that runs for a while can be told. */
export interface LogConfig {
  readonly logLevel: (typeof CONFIGURABLE_LOG_LEVELS)[number];
  readonly logFormat: (typeof CONFIGURABLE_LOG_FORMATS)[number];
}

export const logLevel: Setting<LogConfig['logLevel']> = {
  flag: 'log-level',
  placeholder: 'LEVEL',
  description: `what is logged to standard error: ${CONFIGURABLE_LOG_LEVELS.join(', ')}`,
  fallback: { text: 'info' },
  parse: parseOneOf(CONFIGURABLE_LOG_LEVELS),
};

export const logFormat: Setting<LogConfig['logFormat']> = {
  flag: 'log-format',
  placeholder: 'FORMAT',
  description: `how it is written: ${CONFIGURABLE_LOG_FORMATS.join(', ')}`,
  fallback: { text: 'json' },
  parse: parseOneOf(CONFIGURABLE_LOG_FORMATS),
};

export const dataDir: Setting<string> = {
  flag: 'data-dir',
  placeholder: 'DIR',
  description: 'where standalone keeps its database, keyring and secrets',
  fallback: { text: '.data' },
  parse: parseFolder,
};

const databaseUrlTexts = {
  flag: 'database-url',
  placeholder: 'URL',
  parse: parsePostgresUrl,
  mayBeInFile: true,
} as const;

export const optionalDatabaseUrl: Setting<string | undefined> = {
  ...databaseUrlTexts,
  description: 'a Postgres to use instead of the embedded one',
  fallback: { value: undefined },
};

/** May hold a password, as may the next. */
export const maintenanceDatabaseUrl: Setting<string | undefined> = {
  ...databaseUrlTexts,
  flag: 'maintenance-database-url',
  description: 'the same database, as a user in tokenkeep_sweeper; else the user of --database-url sweeps',
  fallback: { value: undefined },
};

export const migrationDatabaseUrl: Setting<string | undefined> = {
  ...databaseUrlTexts,
  flag: 'migration-database-url',
  description: 'the same database, as the owner of its tables; else the user of --database-url migrates',
  fallback: { value: undefined },
};

export const requiredDatabaseUrl: Setting<string> = {
  ...databaseUrlTexts,
  description: 'the Postgres whose schema is brought up to date',
  fallback: 'required',
};
