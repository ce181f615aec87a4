import type { KeyObject } from 'node:crypto';
import type { DataKeyPurpose, DataKeyStore } from '../domain/data-keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyManagement } from './key-management.ts';

/** An unwrapped data key. The key itself stays inside the KeyObject. */
export interface DataKey {
  /** UUID, as its 16 bytes. */
  readonly id: Buffer;
  readonly key: KeyObject;
}

/** How long data keys serve. */
export interface DataKeyLimits {
  /** Encryptions under one 'data' or 'cvc' key. Random 96-bit nonces are safe far beyond the default of 2^28. */
  readonly maxUses: number;
  /** After this long a 'data' key is replaced. */
  readonly maxAgeMs: number;
  /** Uses that a process reserves at a time; those left when it stops are lost. */
  readonly usesBlock: number;
  /** How long an unwrapped key stays in memory, so for how long sealing survives an outage of key management. */
  readonly cacheTtlMs: number;
  /** Unwrapped keys in memory at most. */
  readonly cacheSize: number;
}

export const DEFAULT_DATA_KEY_LIMITS: DataKeyLimits = {
  maxUses: 2 ** 28,
  maxAgeMs: 24 * 3600_000,
  usesBlock: 2 ** 16,
  cacheTtlMs: 5 * 60_000,
  cacheSize: 10_000,
};

export interface DataKeysOptions {
  readonly management: KeyManagement;
  readonly store: DataKeyStore;
  readonly clock: Clock;
  readonly limits?: Partial<DataKeyLimits>;
}

/** The data keys of every tenant, unwrapped as needed. */
export interface DataKeys {
  /**
   * The key to seal `uses` values with now, at once where it is warm. Throws DomainError 'unavailable' where the store or
   * key management cannot be reached.
   */
  forSealing(tenantId: string, uses: number): DataKey | Promise<DataKey>;
  /** As `forSealing`, under a key that is destroyed once values sealed now are past `retentionMs`. */
  forSealingCvc(tenantId: string, retentionMs: number, uses: number): DataKey | Promise<DataKey>;
  /** The stable HMAC key of a tenant. */
  forHashing(tenantId: string, purpose: 'fingerprint' | 'search'): DataKey | Promise<DataKey>;
  /** The key with which a value was sealed; undefined where it has been destroyed or never was. */
  forOpening(tenantId: string, keyId: Buffer): DataKey | undefined | Promise<DataKey | undefined>;
  /** Forgets every unwrapped key of a tenant. */
  forget(tenantId: string): void;
}

export type { DataKeyPurpose };

export function createDataKeys(_options: DataKeysOptions): DataKeys {
  throw new Error('unwritten');
}
