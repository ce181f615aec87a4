/**
 * What a data key is for: token data and other sealed fields, card verification codes, the HMAC of fingerprints, or the
 * HMAC of search indexes.
 */
export type DataKeyPurpose = 'data' | 'cvc' | 'fingerprint' | 'search';

/** A data key as it is stored: wrapped by key management, never in plaintext. */
export interface StoredDataKey {
  tenantId: string;
  /** UUID. */
  id: string;
  purpose: DataKeyPurpose;
  wrapped: string;
  createdAt: Date;
  /** Encryptions that processes have reserved under this key so far. */
  uses: number;
  /** When the key is destroyed, and with it whatever it sealed; null for never. */
  destroyAt: Date | null;
}

/**
 * What became of a key that was to be the active one: it is; another process was first; or it is wrapped under a
 * version of its master key that is being retired.
 */
export type Activation = 'activated' | 'taken' | 'retired';

/** Where wrapped data keys are kept. At any time one key for each tenant and purpose is active. */
export interface DataKeyStore {
  findActive(tenantId: string, purpose: DataKeyPurpose): Promise<StoredDataKey | undefined>;
  find(tenantId: string, id: string): Promise<StoredDataKey | undefined>;
  /**
   * Commits `key` as the active one, in place of the one with the id `replaces` where given. Stores nothing unless it
   * gives 'activated'.
   */
  activate(key: StoredDataKey, replaces?: string): Promise<Activation>;
  /** Adds to the uses of an active key. False where it is no longer active or would exceed `limit`. */
  reserveUses(tenantId: string, id: string, count: number, limit: number): Promise<boolean>;
}
