import type { StoredDataKey } from '../domain/data-keys.ts';
import type { Clock } from '../platform/clock.ts';
import { retryAt, staleAt } from './refresh-times.ts';
import type { Replacement } from './replacement.ts';
import type { DataKey } from './unwrapped-keys.ts';

/** A key that this process seals with, and what it may still do with it. */
interface ActiveKey {
  readonly stored: StoredDataKey;
  readonly dataKey: DataKey;
  /** By then it is looked up again. */
  readonly until: number;
  refreshAt: number;
  usesLeft: number;
}

/** The keys that this process seals with, one for each tenant and purpose, each for a bounded time. */
export interface ActiveKeys {
  /** Spends `uses` of the key; undefined where there is none that may serve so many. */
  take(name: string, uses: number, replacement: Replacement): DataKey | undefined;
  /** Whether to look the key up again ahead of time; true once, and again where that has not happened after a while. */
  isDue(name: string): boolean;
  /** What is left of the uses that this process has reserved of this key; undefined where that is less than `uses`. */
  usesLeftOf(name: string, keyId: string, uses: number): number | undefined;
  put(name: string, stored: StoredDataKey, dataKey: DataKey, usesLeft: number): void;
  forget(tenantId: string): void;
  dropExpired(): void;
  readonly size: number;
}

export function createActiveKeys(clock: Clock, { ttlMs, size }: { ttlMs: number; size: number }): ActiveKeys {
  const entries = new Map<string, ActiveKey>();
  return {
    take(name, uses, replacement) {
      const entry = entries.get(name);
      if (entry === undefined || entry.usesLeft < uses || clock.now() >= entry.until) return undefined;
      if (!replacement.mayServe(entry.stored, clock.now())) return undefined;
      entry.usesLeft -= uses;
      return entry.dataKey;
    },
    isDue(name) {
      const entry = entries.get(name);
      if (entry === undefined || clock.now() < entry.refreshAt) return false;
      entry.refreshAt = retryAt(clock.now(), ttlMs);
      return true;
    },
    usesLeftOf(name, keyId, uses) {
      const entry = entries.get(name);
      return entry !== undefined && entry.stored.id === keyId && entry.usesLeft >= uses ? entry.usesLeft : undefined;
    },
    put(name, stored, dataKey, usesLeft) {
      entries.delete(name);
      const until = Math.min(stored.destroyAt?.getTime() ?? Infinity, clock.now() + ttlMs);
      entries.set(name, { stored, dataKey, until, refreshAt: staleAt(clock.now(), ttlMs), usesLeft });
      if (entries.size > size) entries.delete(entries.keys().next().value!);
    },
    forget(tenantId) {
      for (const [name, { stored }] of entries) if (stored.tenantId === tenantId) entries.delete(name);
    },
    dropExpired() {
      for (const [name, { until }] of entries) if (clock.now() >= until) entries.delete(name);
    },
    get size() {
      return entries.size;
    },
  };
}
