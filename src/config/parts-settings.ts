import { dataDir, logFormat, logLevel, maintenanceDatabaseUrl, optionalDatabaseUrl } from './shared-settings.ts';
import type { LogConfig } from './shared-settings.ts';
import type { Settings } from './setting.ts';
import { vaultSettings, type VaultConfig } from './vault-settings.ts';

/** Where a command finds the database and the keys of a vault, which may be running. */
export interface PartsConfig extends LogConfig, VaultConfig {
  /** Absolute. Of a standalone: holds the keyring, and the embedded Postgres where `databaseUrl` is undefined. */
  readonly dataDir: string;
  /** May hold a password. */
  readonly databaseUrl: string | undefined;
  /** Takes its place: the API's own user, which a pod has beside it, may do none of what commands do. */
  readonly maintenanceDatabaseUrl: string | undefined;
}

export const partsSettings: Settings<PartsConfig> = {
  dataDir,
  databaseUrl: optionalDatabaseUrl,
  maintenanceDatabaseUrl: {
    ...maintenanceDatabaseUrl,
    description: 'the same database, as a user in tokenkeep_sweeper; taken in place of --database-url',
  },
  ...vaultSettings,
  // What a command has to say stands in its output.
  logLevel: { ...logLevel, fallback: { text: 'warn' } },
  logFormat,
};
