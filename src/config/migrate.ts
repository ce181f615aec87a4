import type { SettingsReader } from './read-settings.ts';
import { logFormat, logLevel, requiredDatabaseUrl } from './shared-settings.ts';
import type { LogConfig } from './shared-settings.ts';

/** Applies the schema to a Postgres. */
export interface MigrateConfig extends LogConfig {
  /** May hold a password. */
  readonly databaseUrl: string;
}

export const migrateSettings: SettingsReader<MigrateConfig> = {
  settings: { databaseUrl: requiredDatabaseUrl, logLevel, logFormat },
};
