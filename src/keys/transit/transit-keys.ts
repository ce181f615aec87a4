import { DomainError } from '../../domain/errors.ts';
import type { MasterKey, MasterKeyVersions } from '../key-management.ts';
import type { VaultConnection } from './connection.ts';
import { VaultAway, VaultRefusal } from './failures.ts';

/** Where the keys are. */
export interface TransitPlace {
  readonly mount: string;
  /** Name of the master key of tokens; the others are named after it. */
  readonly key: string;
}

export type TransitKey = MasterKey | 'audit';

/** Derived: the context, the tenant's id, is needed to unwrap. None ever leaves Vault. */
const SPECIFICATIONS = {
  tokens: { type: 'aes256-gcm96', derived: true },
  cvc: { type: 'aes256-gcm96', derived: true },
  audit: { type: 'hmac', key_size: 32 },
} as const satisfies Record<TransitKey, object>;

/** The master keys themselves, rather than what is wrapped under them. */
export interface TransitKeys {
  nameOf(key: TransitKey): string;
  /** `transit/<operation>/<name>`. */
  pathOf(operation: string, key: TransitKey): string;
  /** Makes those that are not there, where Vault's policy lets it. Refuses those that are not as they must be. */
  prepare(isNeeded: () => Promise<boolean>): Promise<void>;
  exists(key: TransitKey): Promise<boolean>;
  /** Undefined where there is no such key. */
  versions(key: MasterKey): Promise<MasterKeyVersions | undefined>;
  rotate(key: MasterKey): Promise<void>;
  retire(key: MasterKey, oldest: number): Promise<void>;
}

const ROTATION_TRIES = 3;

export function createTransitKeys(connection: VaultConnection, { mount, key: base }: TransitPlace): TransitKeys {
  const nameOf = (key: TransitKey): string => (key === 'tokens' ? base : `${base}-${key}`);
  const pathOf = (operation: string, key: TransitKey): string => `${mount}/${operation}/${nameOf(key)}`;

  async function read(key: TransitKey): Promise<Readonly<Record<string, unknown>> | undefined> {
    try {
      const { data } = await connection.request((client, token) => client.read(pathOf('keys', key), token));
      return data?.['soft_deleted'] === true ? undefined : data;
    } catch (error) {
      if (error instanceof VaultRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  async function versions(key: MasterKey): Promise<MasterKeyVersions | undefined> {
    const data = await read(key);
    if (data === undefined) return undefined;
    const current = Number(data['latest_version']);
    const madeAt = (data['keys'] as Record<string, unknown>)[String(current)];
    return {
      current,
      oldest: Math.max(1, Number(data['min_decryption_version'] ?? 1), Number(data['min_available_version'] ?? 1)),
      currentSince: new Date(Number(madeAt) * 1000),
    };
  }

  function write(path: string, body: object): Promise<unknown> {
    return connection.request((client, token) => client.write(path, body, token));
  }

  async function make(key: TransitKey): Promise<void> {
    try {
      await write(pathOf('keys', key), { ...SPECIFICATIONS[key], exportable: false, allow_plaintext_backup: false });
    } catch (error) {
      if (!(error instanceof VaultRefusal)) throw error;
      const properties = Object.entries(SPECIFICATIONS[key]).map(([name, value]) => `${name}=${value}`);
      const enable = error.status === 404 ? `vault secrets enable -path=${mount} transit, then ` : '';
      throw new DomainError(
        'unavailable',
        `Vault has no transit key ${nameOf(key)}, and none may be made with this token: an administrator runs ` +
          `${enable}vault write -f ${pathOf('keys', key)} ${properties.join(' ')}`,
        { cause: error },
      );
    }
  }

  return {
    ...{ nameOf, pathOf, versions },
    exists: async (key) => (await read(key)) !== undefined,
    async prepare(isNeeded) {
      for (const key of ['tokens', 'cvc', 'audit'] as const) {
        const found = await read(key);
        if (found !== undefined) {
          assertAsSpecified(nameOf(key), key, found);
          continue;
        }
        // A new one would open nothing of what is stored, and hide that the right one is missing.
        if (key !== 'audit' && (await isNeeded())) throw missing(nameOf(key));
        await make(key);
      }
    },
    async rotate(key) {
      const before = await versions(key);
      if (before === undefined) throw missing(nameOf(key));
      for (let tried = 1; ; tried++) {
        try {
          const path = `${pathOf('keys', key)}/rotate`;
          await connection.requestOnce((client, token) => client.write(path, {}, token));
          return;
        } catch (error) {
          if (!(error instanceof VaultAway) || tried >= ROTATION_TRIES) throw error;
        }
        // The answer may be lost though the version was made: made twice, each would stand for nothing.
        const now = await versions(key);
        if (now !== undefined && now.current > before.current) return;
      }
    },
    async retire(key, oldest) {
      const now = await versions(key);
      if (now === undefined) throw missing(nameOf(key));
      if (oldest > now.current) throw new Error('the current version of a master key cannot be retired');
      // Never lower than it is: what is no longer let in stays out.
      const least = Math.max(oldest, now.oldest);
      if (least === 1) return;
      const path = pathOf('keys', key);
      await write(`${path}/config`, { min_decryption_version: least, min_encryption_version: least });
      // Until then, the versions could be let in again.
      await write(`${path}/trim`, { min_available_version: least });
    },
  };
}

function assertAsSpecified(name: string, key: TransitKey, found: Readonly<Record<string, unknown>>): void {
  const faults = [
    ...Object.entries(SPECIFICATIONS[key]).flatMap(([property, value]) =>
      found[property] === value ? [] : [`${property} must be ${value}`],
    ),
    ...(['exportable', 'allow_plaintext_backup'] as const).flatMap((property) =>
      found[property] === true ? [`${property} must be false`] : [],
    ),
  ];
  if (faults.length > 0) {
    throw new DomainError('unavailable', `the transit key ${name} is not fit for use: ${faults.join(', ')}`);
  }
}

/** A master key without which what is stored cannot be read. */
export function missing(name: string): DomainError {
  return new DomainError(
    'unavailable',
    `Vault has no transit key ${name}, and data is sealed under it: restore it from a backup of Vault`,
  );
}
