import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import { retryAt, staleAt } from './refresh-times.ts';

/** An unwrapped data key. The key itself stays inside the KeyObject. */
export interface DataKey {
  /** UUID, as its 16 bytes. */
  readonly id: Buffer;
  readonly key: KeyObject;
}

export function idBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

export function idText(id: Buffer): string {
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Takes the key out of the buffer, which then holds nothing. */
export function takeKey(id: string, plaintext: Buffer): DataKey {
  const key = createSecretKey(plaintext);
  plaintext.fill(0);
  return { id: idBytes(id), key };
}

/** Unwrapped keys, each for a bounded time from when it was unwrapped; beyond the bound the least used goes first. */
export interface UnwrappedKeys {
  get(tenantId: string, keyId: Buffer): DataKey | undefined;
  /** Whether to unwrap the key again ahead of time; true once, and again where that has not happened after a while. */
  isDue(tenantId: string, keyId: Buffer): boolean;
  /** `until`: the key goes earlier than its time to live, in milliseconds since the epoch. */
  put(tenantId: string, dataKey: DataKey, until: number): void;
  forget(tenantId: string): void;
  dropExpired(): void;
  readonly size: number;
}

export function createUnwrappedKeys(clock: Clock, { ttlMs, size }: { ttlMs: number; size: number }): UnwrappedKeys {
  // A Map keeps the order of insertion; reading an entry moves it to the end.
  const entries = new Map<string, { tenantId: string; dataKey: DataKey; until: number; refreshAt: number }>();
  const nameOf = (tenantId: string, keyId: Buffer): string => `${tenantId}/${keyId.toString('latin1')}`;
  return {
    get(tenantId, keyId) {
      const name = nameOf(tenantId, keyId);
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      entries.delete(name);
      if (clock.now() >= entry.until) return undefined;
      entries.set(name, entry);
      return entry.dataKey;
    },
    isDue(tenantId, keyId) {
      const entry = entries.get(nameOf(tenantId, keyId));
      if (entry === undefined || clock.now() < entry.refreshAt) return false;
      entry.refreshAt = retryAt(clock.now(), ttlMs);
      return true;
    },
    put(tenantId, dataKey, until) {
      const name = nameOf(tenantId, dataKey.id);
      entries.delete(name);
      const now = clock.now();
      entries.set(name, { tenantId, dataKey, until: Math.min(until, now + ttlMs), refreshAt: staleAt(now, ttlMs) });
      if (entries.size > size) entries.delete(entries.keys().next().value!);
    },
    forget(tenantId) {
      for (const [name, entry] of entries) if (entry.tenantId === tenantId) entries.delete(name);
    },
    dropExpired() {
      for (const [name, { until }] of entries) if (clock.now() >= until) entries.delete(name);
    },
    get size() {
      return entries.size;
    },
  };
}
