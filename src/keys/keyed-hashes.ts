import { createHmac } from 'node:crypto';
import type { DataKeys } from './data-keys.ts';
import { lengthPrefixed } from './length-prefixed.ts';

/** HMAC-SHA-256 under keys of the tenant: equal values give equal hashes within one tenant, and nowhere else. */
export interface KeyedHasher {
  /** 32 bytes; tokens of different types never share a fingerprint. */
  fingerprint(tenantId: string, tokenType: string, value: string): Promise<Buffer>;
  /** 32 bytes. */
  searchHash(tenantId: string, value: string): Promise<Buffer>;
}

export function createKeyedHasher(dataKeys: DataKeys): KeyedHasher {
  async function hash(
    tenantId: string,
    purpose: 'fingerprint' | 'search',
    parts: readonly [string, ...string[]],
  ): Promise<Buffer> {
    const { key } = await dataKeys.forHashing(tenantId, purpose);
    return createHmac('sha256', key)
      .update(lengthPrefixed(...parts))
      .digest();
  }
  return {
    fingerprint: (tenantId, tokenType, value) => hash(tenantId, 'fingerprint', ['fingerprint', tokenType, value]),
    searchHash: (tenantId, value) => hash(tenantId, 'search', ['search', value]),
  };
}
