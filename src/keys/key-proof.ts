import type { StoredDataKey } from '../domain/data-keys.ts';
import { DomainError } from '../domain/errors.ts';
import type { KeyManagement } from './key-management.ts';

export interface KeyProofOptions {
  readonly management: KeyManagement;
  /** Some of the data keys that the 'tokens' master key has wrapped; none of a vault that has none. */
  readonly samples: () => Promise<StoredDataKey[]>;
}

const FOREIGN =
  'key management answers, but its master key is not the one that wrapped the data keys of this vault: ' +
  'restore that key, or name the place where it is';

/**
 * Shows that the data keys of this vault can be unwrapped now: key management answers, and unwraps one of them. A
 * master key that was deleted and made anew under its old name answers too, and opens nothing.
 *
 * Throws a DomainError 'unavailable' that says what to do.
 */
export async function proveKeys({ management, samples }: KeyProofOptions): Promise<void> {
  await management.ping();
  // A data key may be wrapped anew, and the version that it was wrapped under retired, while it is looked at.
  if ((await unwrapsAny(management, samples)) || (await unwrapsAny(management, samples))) return;
  throw new DomainError('unavailable', FOREIGN);
}

/** One that was altered spoils no proof: another one will do. */
async function unwrapsAny(management: KeyManagement, samples: KeyProofOptions['samples']): Promise<boolean> {
  // Whether Postgres answers is no matter of key management.
  const stored = await samples().catch((): StoredDataKey[] => []);
  for (const { tenantId, wrapped } of stored) {
    try {
      (await management.unwrapDataKey('tokens', tenantId, wrapped)).fill(0);
      return true;
    } catch (error) {
      if (error instanceof DomainError) throw error;
    }
  }
  return stored.length === 0;
}
