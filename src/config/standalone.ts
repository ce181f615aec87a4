import { keyRotation, type KeyRotationConfig } from './key-rotation-setting.ts';
import { rateLimitSettings, type RateLimitConfig } from './rate-limit-settings.ts';
import type { SettingsReader } from './read-settings.ts';
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
import { vaultFaults, vaultSettings, type VaultConfig } from './vault-settings.ts';
import { parseExistingFolder, parseHeaderPrefixes, parseHost, parseOrigins, parsePort } from './values.ts';

/** Everything on one machine. Ports: 0 takes a free one. */
export interface StandaloneConfig extends LogConfig, RateLimitConfig, VaultConfig, KeyRotationConfig {
  /** Where the API listens. */
  readonly port: number;
  /** What the API and the metrics listen on; the internal API listens on loopback alone. */
  readonly host: string;
  readonly internalPort: number;
  readonly metricsPort: number;
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
  /** Of the program's headers (`<prefix>-API-KEY`), the preferred one first. Upper case, at least one. */
  readonly headerPrefixes: readonly string[];
  /** Whose pages may call the API: origins as browsers send them, or `*` alone. Nobody's where it is empty. */
  readonly corsOrigins: readonly string[];
}

export const standaloneSettings: SettingsReader<StandaloneConfig> = {
  settings: {
    port: {
      flag: 'port',
      placeholder: 'PORT',
      description: 'port of the API',
      fallback: { text: '8080' },
      parse: parsePort,
    },
    host: {
      flag: 'host',
      placeholder: 'HOST',
      description: 'address to listen on',
      fallback: { text: '127.0.0.1' },
      parse: parseHost,
    },
    internalPort: {
      flag: 'internal-port',
      placeholder: 'PORT',
      description: 'port of the internal API, on loopback; 0 takes a free one',
      fallback: { text: '0' },
      parse: parsePort,
    },
    metricsPort: {
      flag: 'metrics-port',
      placeholder: 'PORT',
      description: 'port of GET /metrics',
      fallback: { text: '9090' },
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
    headerPrefixes: {
      flag: 'header-prefixes',
      placeholder: 'LIST',
      description: 'prefixes of the headers, comma-separated, the preferred one first',
      fallback: { text: 'SVC,BT' },
      parse: parseHeaderPrefixes,
    },
    corsOrigins: {
      flag: 'cors-origins',
      placeholder: 'LIST',
      description: 'origins whose pages may call the API, comma-separated, such as https://shop.example; * for any',
      fallback: { value: Object.freeze([]) },
      parse: parseOrigins,
    },
    ...vaultSettings,
    keyRotation,
    ...rateLimitSettings,
    logLevel,
    logFormat,
  },
  crossCheck: (config) => [...portFaults(config), ...databaseFaults(config), ...vaultFaults(config)],
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

function portFaults({ port, internalPort, metricsPort }: Partial<StandaloneConfig>): string[] {
  return [
    ...samePort('internal-port', internalPort, 'port', port),
    ...samePort('metrics-port', metricsPort, 'port', port),
    ...samePort('metrics-port', metricsPort, 'internal-port', internalPort),
  ];
}

function samePort(flag: string, port: number | undefined, otherFlag: string, otherPort: number | undefined): string[] {
  // Free ports differ anyway, and a port that is not given or not one is no port at all.
  if (!port || port !== otherPort) return [];
  return [`${settingName(flag)}: must differ from --${otherFlag}, also ${port}`];
}
