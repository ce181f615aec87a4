import { internalApiFaults, internalApiSettings, type InternalApiConfig } from './internal-api-settings.ts';
import { keyRotation, type KeyRotationConfig } from './key-rotation-setting.ts';
import { rateLimitSettings, type RateLimitConfig } from './rate-limit-settings.ts';
import type { SettingsReader } from './read-settings.ts';
import { portFaults, servingSettings, type ServingConfig } from './serving-settings.ts';
import { settingName } from './setting.ts';
import { logFormat, logLevel, maintenanceDatabaseUrl, requiredDatabaseUrl, type LogConfig } from './shared-settings.ts';
import { parseApiTlsFolder } from './tls-folder.ts';
import { tracingSettings, type TracingConfig } from './tracing-settings.ts';
import { parseExistingFolder, parseHost, parseOrigin, parsePort, parseSeconds } from './values.ts';
import { vaultFaults, vaultSettings, type VaultConfig } from './vault-settings.ts';

/** The data plane alone, over a Postgres that is there and a Vault. Ports: 0 takes a free one. */
export interface ApiConfig
  extends LogConfig, ServingConfig, InternalApiConfig, RateLimitConfig, VaultConfig, KeyRotationConfig, TracingConfig {
  /** Absolute. Master keys are there where there is no `vaultAddr`: exactly one of the two is given. */
  readonly keyringDir: string | undefined;
  /** That of the API where it is undefined. */
  readonly metricsHost: string | undefined;
  /** May hold a password. */
  readonly databaseUrl: string;
  /** For work across tenants; that of the API where it is undefined. May hold a password. */
  readonly maintenanceDatabaseUrl: string | undefined;
  /** Absolute. Reactors that run in pods cannot be called where it is undefined. */
  readonly reactorTlsDir: string | undefined;
  /** Of the same API by TLS, for `svc`; opened with `reactorTlsDir` alone. */
  readonly svcPort: number;
  /** An https origin. Where this process listens on `svcPort`, if it is undefined. */
  readonly svcUrl: string | undefined;
  /** After SIGTERM it goes on serving for so long, not ready, until proxies have learnt of it. */
  readonly drainSeconds: number;
  /** What is in flight after that may take so long. */
  readonly graceSeconds: number;
}

export const apiSettings: SettingsReader<ApiConfig> = {
  settings: {
    ...servingSettings,
    metricsHost: {
      flag: 'metrics-host',
      placeholder: 'HOST',
      description: 'address that GET /metrics listens on, if not --host',
      fallback: { value: undefined },
      parse: parseHost,
    },
    ...internalApiSettings,
    databaseUrl: {
      ...requiredDatabaseUrl,
      description: 'a Postgres whose schema is up to date, as a user in tokenkeep_api',
    },
    maintenanceDatabaseUrl,
    ...vaultSettings,
    keyringDir: {
      flag: 'keyring-dir',
      placeholder: 'DIR',
      description: 'for a first look: a folder that keeps the master keys in place of Vault; of one replica alone',
      fallback: { value: undefined },
      parse: parseExistingFolder,
    },
    keyRotation: {
      ...keyRotation,
      description: 'rotate the master key of tokens once it is older, such as 90d; or off (default off)',
    },
    ...rateLimitSettings,
    reactorTlsDir: {
      flag: 'reactor-tls-dir',
      placeholder: 'DIR',
      description:
        'tls.crt, tls.key, ca.crt, svc.crt, svc.key by which the API and the pods of reactors know each other; ' +
        'read again on changes',
      fallback: { value: undefined },
      parse: parseApiTlsFolder,
    },
    svcPort: {
      flag: 'svc-port',
      placeholder: 'PORT',
      description: 'port of the API by TLS, for svc in the pods of reactors; opened with --reactor-tls-dir',
      fallback: { text: '8444' },
      parse: parsePort,
    },
    svcUrl: {
      flag: 'svc-url',
      placeholder: 'URL',
      description: 'where the pods of reactors reach that port of this very process, such as https://10.1.2.3:8444',
      fallback: { value: undefined },
      parse: parseOrigin,
    },
    drainSeconds: {
      flag: 'drain-seconds',
      placeholder: 'SECONDS',
      description: 'after SIGTERM, go on serving for so long, not ready, until no proxy sends anything any more',
      fallback: { text: '0' },
      parse: parseSeconds(0, 120),
    },
    graceSeconds: {
      flag: 'grace-seconds',
      placeholder: 'SECONDS',
      description: 'then, what is in flight may take so long',
      fallback: { text: '5' },
      parse: parseSeconds(1, 120),
    },
    logLevel,
    logFormat,
    ...tracingSettings,
  },
  crossCheck: (config) => [
    ...portFaults({
      ...{ port: config.port, 'internal-port': config.internalPort, 'metrics-port': config.metricsPort },
      ...(config.reactorTlsDir === undefined ? {} : { 'svc-port': config.svcPort }),
    }),
    ...svcFaults(config),
    ...internalApiFaults(config),
    ...masterKeyFaults(config),
  ],
};

/** Replicas share no keyring, so it must be asked for. */
function masterKeyFaults({ keyringDir, ...vault }: Partial<ApiConfig>): string[] {
  if (keyringDir !== undefined && vault.vaultAddr !== undefined) {
    return [`${settingName('keyring-dir')}: cannot be given together with --vault-addr`];
  }
  if (keyringDir !== undefined || vault.vaultAddr !== undefined) return vaultFaults(vault);
  // That is the fault, and not each setting that goes with it; one that is wrong by itself is told by itself.
  return 'vaultAddr' in vault ? [`${settingName('vault-addr')}: must be given`] : [];
}

/** Keys and plaintext travel there. */
function svcFaults({ svcUrl, reactorTlsDir }: Partial<ApiConfig>): string[] {
  if (svcUrl === undefined) return [];
  if (reactorTlsDir === undefined) return [`${settingName('svc-url')}: needs --reactor-tls-dir`];
  return new URL(svcUrl).protocol === 'https:' ? [] : [`${settingName('svc-url')}: must be https`];
}
