import type { StoredDataKey } from '../domain/data-keys.ts';

/** When the active data key of a purpose gives way to a new one. Times are milliseconds since the epoch. */
export interface Replacement {
  /** Whether uses are counted and bounded. */
  readonly counted: boolean;
  mayServe(stored: StoredDataKey, now: number): boolean;
  /** When a key made now is destroyed; null for never. */
  destroyAt(now: number): Date | null;
}

/** HMAC keys: replaced, they would no longer find what was hashed before. */
export const stableKeys: Replacement = { counted: false, mayServe: () => true, destroyAt: () => null };

export function agedKeys(maxAgeMs: number): Replacement {
  return {
    counted: true,
    mayServe: (stored, now) => now < stored.createdAt.getTime() + maxAgeMs,
    destroyAt: () => null,
  };
}

const SHORTEST_BUCKET_MS = 60_000;
/** By how much the clocks of processes and of Postgres may differ: what one still shows, the others can open. */
const CLOCK_SKEW_MS = 60_000;

/** For how long a key of `cvcBucket` serves that exists for `lifeSeconds` in all. */
export function cvcBucketSeconds(lifeSeconds: number): number {
  const bucketAndRetention = lifeSeconds - CLOCK_SKEW_MS / 1000;
  return Math.max(SHORTEST_BUCKET_MS / 1000, bucketAndRetention / 5);
}

/**
 * Keys for values that are kept for `retentionMs`: each serves for a quarter of that, at least a minute, and is
 * destroyed when the last value that it may have sealed is past its retention by every clock.
 */
export function cvcBucket(retentionMs: number): Replacement {
  const bucketMs = Math.max(SHORTEST_BUCKET_MS, retentionMs / 4);
  return {
    counted: true,
    mayServe: (stored, now) =>
      now < stored.createdAt.getTime() + bucketMs &&
      // A retention that was made longer since needs a key that lives as long.
      (stored.destroyAt === null || now + retentionMs + CLOCK_SKEW_MS <= stored.destroyAt.getTime()),
    destroyAt: (now) => new Date(now + bucketMs + retentionMs + CLOCK_SKEW_MS),
  };
}
