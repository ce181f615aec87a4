import type { DataKeys } from './data-keys.ts';

/** HMAC-SHA-256 under keys of the tenant: equal values give equal hashes within one tenant, and nowhere else. */
export interface KeyedHasher {
  /** 32 bytes; tokens of different types never share a fingerprint. */
  fingerprint(tenantId: string, tokenType: string, value: string): Promise<Buffer>;
  /** 32 bytes. */
  searchHash(tenantId: string, value: string): Promise<Buffer>;
}

export function createKeyedHasher(_dataKeys: DataKeys): KeyedHasher {
  throw new Error('unwritten');
}
