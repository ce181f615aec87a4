import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VaultConfig } from '../config/vault-settings.ts';
import type { Database } from '../data/database.ts';
import { findWrappings } from '../data/data-key-wrappings.ts';
import type { KeyManagement } from '../keys/key-management.ts';
import { openKeyManagementLate } from '../keys/late-key-management.ts';
import { openKeyring } from '../keys/keyring.ts';
import { openTransit, type Transit, type VaultAuth } from '../keys/transit/transit.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';

/** Where the master keys are: in Vault where it has an address, else in the keyring of the data folder. */
export interface KeyManagementConfig extends VaultConfig {
  readonly dataDir: string;
}

/** A vault that has no folder is one of several over the same Vault. */
type AnyKeyManagementConfig = VaultConfig & Partial<KeyManagementConfig>;

export interface KeyManagementOptions {
  /** Sees the rows of all tenants. */
  readonly database: Database;
  readonly logger: Logger;
}

/**
 * Opens what a vault is served with, and makes the master keys where the database needs none yet; later, where Vault is
 * away now. Throws where the database holds data keys of the other key management, or where the own one cannot be used
 * as it is configured.
 */
export async function openKeyManagement(
  config: KeyManagementConfig,
  options: KeyManagementOptions & { readonly metrics: Metrics },
): Promise<KeyManagement> {
  return config.vaultAddr === undefined ? findKeyManagement(config, options) : openVault(config, options);
}

/** As `openKeyManagement`, where it is in Vault. */
export async function openVault(
  config: AnyKeyManagementConfig,
  { database, logger, metrics }: KeyManagementOptions & { readonly metrics: Metrics },
): Promise<KeyManagement> {
  await refuseOtherWrappings(config, database);
  const answers = metrics.gauge({
    name: 'vault_up',
    help: '1 while Vault, which holds the master keys, answers; 0 while it is away and asked again.',
  });
  return openKeyManagementLate({
    name: 'vault',
    async open() {
      const transit = await openTransitOf(config, logger, (isUp) => answers.set(isUp ? 1 : 0));
      try {
        await transit.prepare(async () => (await findWrappings(database)).vault);
      } catch (error) {
        await transit.close();
        throw error;
      }
      return transit;
    },
  });
}

/** As `openKeyManagement`, for a command: Vault's keys are taken as they are. */
export async function findKeyManagement(
  config: KeyManagementConfig,
  { database, logger }: KeyManagementOptions,
): Promise<KeyManagement> {
  await refuseOtherWrappings(config, database);
  if (config.vaultAddr !== undefined) return openTransitOf(config, logger);
  return openKeyringOf(config, database);
}

export function openKeyringOf({ dataDir }: KeyManagementConfig, database: Database): Promise<KeyManagement> {
  return openKeyring(keyringPath(dataDir), { isNeeded: async () => (await findWrappings(database)).keyring });
}

/** Throws where no `vaultAddr` is configured, which the settings see to. */
export async function openTransitOf(
  config: VaultConfig,
  logger: Logger,
  onChange?: (isUp: boolean) => void,
): Promise<Transit> {
  const { vaultAddr, vaultCaFile } = config;
  if (vaultAddr === undefined) throw new Error('no address of Vault is configured');
  return openTransit({
    address: vaultAddr,
    namespace: config.vaultNamespace,
    ca: vaultCaFile === undefined ? undefined : () => readFile(vaultCaFile, 'utf8'),
    timeoutMs: config.vaultTimeout,
    auth: authOf(config),
    mount: config.transitMount,
    key: config.transitKey,
    logger,
    ...(onChange === undefined ? {} : { onChange }),
  });
}

function authOf(config: VaultConfig): VaultAuth {
  const { vaultAuth, vaultTokenFile, vaultAuthMount } = config;
  switch (vaultAuth) {
    case 'token':
      return vaultTokenFile === undefined
        ? { method: 'token', token: config.vaultToken ?? '' }
        : { method: 'token-file', file: vaultTokenFile };
    case 'approle':
      return {
        method: 'approle',
        mount: vaultAuthMount ?? 'approle',
        roleId: config.vaultRoleId ?? '',
        secretIdFile: config.vaultSecretIdFile ?? '',
      };
    case 'kubernetes':
      return {
        method: 'kubernetes',
        mount: vaultAuthMount ?? 'kubernetes',
        role: config.vaultKubernetesRole ?? '',
        tokenFile: config.vaultKubernetesTokenFile,
      };
  }
}

/** Opened with the wrong one, a vault would seem empty of keys, and make new ones beside those that it cannot read. */
async function refuseOtherWrappings(config: AnyKeyManagementConfig, database: Database): Promise<void> {
  const { vaultAddr, dataDir = '…' } = config;
  const { keyring, vault } = await findWrappings(database);
  const importCommand = `tokenkeep keys import --data-dir ${dataDir} --vault-addr ${vaultAddr ?? '…'}`;
  if (keyring && vault) {
    throw new Error(
      `an import of the keyring was begun and has not ended: run \`${importCommand}\` again, which goes on from there`,
    );
  }
  if (vaultAddr === undefined && vault) {
    throw new Error('the database holds data keys that Vault has wrapped: give its --vault-addr and --transit-key');
  }
  if (vaultAddr !== undefined && keyring) {
    throw new Error(
      `the database holds data keys that a keyring has wrapped: stop the vault, move them to Vault with ` +
        `\`${importCommand}\`, and start it again`,
    );
  }
}

function keyringPath(dataDir: string): string {
  return join(dataDir, 'keyring.json');
}
