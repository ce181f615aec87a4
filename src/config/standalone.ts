import { keyRotation, type KeyRotationConfig } from './key-rotation-setting.ts';
import { rateLimitSettings, type RateLimitConfig } from './rate-limit-settings.ts';
import type { SettingsReader } from './read-settings.ts';
import { portFaults, servingSettings, type ServingConfig } from './serving-settings.ts';
import { settingName } from './setting.ts';
import {
  dataDir,
  logFormat,
  logLevel,
  maintenanceDatabaseUrl,
  migrationDatabaseUrl,
  optionalDatabaseUrl,
} from './shared-settings.ts';
import type { LogConfig } from './shared-settings.ts';
import { tracingSettings, type TracingConfig } from './tracing-settings.ts';
import { vaultFaults, vaultSettings, type VaultConfig } from './vault-settings.ts';
import { parseExistingFolder, parsePort } from './values.ts';

/** Everything on one machine. Ports: 0 takes a free one. The internal API listens on loopback alone. */
export interface StandaloneConfig
  extends LogConfig, ServingConfig, RateLimitConfig, VaultConfig, KeyRotationConfig, TracingConfig {
  readonly internalPort: number;
  /** Absolute. Made where it is missing. */
  readonly dataDir: string;
  /** Absolute. Nothing is declared where it is undefined. */
  readonly manifests: string | undefined;
  /** The embedded Postgres is used where it is undefined. May hold a password. */
  readonly databaseUrl: string | undefined;
  /** For work across tenants; that of the API where it is undefined. May hold a password. */
  readonly maintenanceDatabaseUrl: string | undefined;
  /** Of the owner, for migrations; that of the API where it is undefined. May hold a password. */
  readonly migrationDatabaseUrl: string | undefined;
}

export const standaloneSettings: SettingsReader<StandaloneConfig> = {
  settings: {
    ...servingSettings,
    internalPort: {
      flag: 'internal-port',
      placeholder: 'PORT',
      description: 'port of the internal API, on loopback; 0 takes a free one',
      fallback: { text: '0' },
      parse: parsePort,
    },
    dataDir,
    manifests: {
      flag: 'manifests',
      placeholder: 'DIR',
      description: 'folder of YAML that declares tenants, applications, rules and reactors',
      fallback: { value: undefined },
      parse: parseExistingFolder,
    },
    databaseUrl: optionalDatabaseUrl,
    maintenanceDatabaseUrl,
    migrationDatabaseUrl,
    ...vaultSettings,
    keyRotation,
    ...rateLimitSettings,
    logLevel,
    logFormat,
    ...tracingSettings,
  },
  crossCheck: (config) => [
    ...portFaults({ port: config.port, 'internal-port': config.internalPort, 'metrics-port': config.metricsPort }),
    ...databaseFaults(config),
    ...vaultFaults(config),
  ],
};

/** Users of a database that was not named are nobody's. */
function databaseFaults({ databaseUrl, ...users }: Partial<StandaloneConfig>): string[] {
  if (databaseUrl !== undefined) return [];
  const given = {
    'maintenance-database-url': users.maintenanceDatabaseUrl,
    'migration-database-url': users.migrationDatabaseUrl,
  };
  return Object.entries(given).flatMap(([flag, url]) =>
    url === undefined ? [] : [`${settingName(flag)}: needs --database-url`],
  );
}
