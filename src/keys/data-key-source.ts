import type { DataKeyPurpose, DataKeyStore, StoredDataKey } from '../domain/data-keys.ts';
import { DomainError } from '../domain/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { DataKeyBroken, dataKeyId, isKeyOfRow } from './data-key-ids.ts';
import type { KeyManagement, MasterKey } from './key-management.ts';
import { takeKey, type DataKey } from './unwrapped-keys.ts';

export interface StoredAndUnwrapped {
  readonly stored: StoredDataKey;
  readonly dataKey: DataKey;
}

/** What a new key is like. */
export interface NewKeyOptions {
  /** Reserved for who makes it. */
  readonly uses: number;
  /** By when it is made, in milliseconds since the epoch; null for never. */
  readonly destroyAt: (now: number) => Date | null;
  /** The id of the key whose place it takes. */
  readonly replaces: string | undefined;
}

/** Where data keys come from: their rows, through key management. No buffer with a key outlives a call. */
export interface DataKeySource {
  /**
   * The key of a row; undefined where the row has gone since it was read. Throws DataKeyBroken, and a DomainError
   * 'unavailable' where key management or the store cannot be reached.
   */
  unwrap(stored: StoredDataKey): Promise<DataKey | undefined>;
  /**
   * Makes a key and commits it as the active one; undefined where another process was first: its key is the one to
   * use. Throws a DomainError 'unavailable'.
   */
  make(tenantId: string, purpose: DataKeyPurpose, options: NewKeyOptions): Promise<StoredAndUnwrapped | undefined>;
}

export interface DataKeySourceOptions {
  readonly management: KeyManagement;
  readonly store: DataKeyStore;
  readonly clock: Clock;
  /** Told of every stored key that is found broken. */
  readonly onBroken?: ((key: StoredDataKey) => void) | undefined;
}

/** A version may be retired while a key is made under it; the next one is made under the version that came after. */
const MAKING_ATTEMPTS = 3;

export function createDataKeySource({ management, store, clock, onBroken }: DataKeySourceOptions): DataKeySource {
  async function open({ tenantId, id, purpose, wrapped }: StoredDataKey): Promise<DataKey> {
    const plaintext = await management.unwrapDataKey(masterOf(purpose), tenantId, wrapped);
    const dataKey = takeKey(id, plaintext);
    if (!isKeyOfRow(dataKey.key, { tenantId, id, purpose })) throw new Error('a data key is not that of its row');
    return dataKey;
  }

  function brokenKey(stored: StoredDataKey, cause: unknown): DataKeyBroken {
    onBroken?.(stored);
    return new DataKeyBroken('a data key was altered, or belongs to another row', { cause });
  }

  return {
    async unwrap(stored) {
      try {
        return await open(stored);
      } catch (error) {
        if (error instanceof DomainError) throw error;
        // Since its row was read it may have been rewrapped, and the version retired that wrapped it then.
        const now = await store.find(stored.tenantId, stored.id);
        if (now === undefined) return undefined;
        if (now.wrapped === stored.wrapped) throw brokenKey(stored, error);
        return open(now).catch((again: unknown) => {
          throw again instanceof DomainError ? again : brokenKey(now, again);
        });
      }
    },
    async make(tenantId, purpose, { uses, destroyAt, replaces }) {
      for (let attempt = 0; attempt < MAKING_ATTEMPTS; attempt++) {
        const { plaintext, wrapped } = await management.createDataKey(masterOf(purpose), tenantId);
        const id = dataKeyId(plaintext, { tenantId, purpose });
        const dataKey = takeKey(id, plaintext);
        const now = clock.now();
        const times = { createdAt: new Date(now), destroyAt: destroyAt(now) };
        const stored: StoredDataKey = { tenantId, id, purpose, wrapped, uses, ...times };
        // Committed before its first use: what is sealed under a key that is not stored is lost.
        const activation = await store.activate(stored, replaces);
        if (activation !== 'retired') return activation === 'activated' ? { stored, dataKey } : undefined;
      }
      throw new DomainError(
        'unavailable',
        'key management wraps data keys under a version of its master key that was retired: put its newest state back',
      );
    },
  };
}

function masterOf(purpose: DataKeyPurpose): MasterKey {
  return purpose === 'cvc' ? 'cvc' : 'tokens';
}
