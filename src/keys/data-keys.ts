import type { DataKeyPurpose, StoredDataKey } from '../domain/data-keys.ts';
import { DomainError } from '../domain/errors.ts';
import { type CacheObserver, unobservedCache } from '../platform/cache-metrics.ts';
import { createActiveKeys } from './active-keys.ts';
import { DataKeyBroken } from './data-key-ids.ts';
import { createDataKeySource, type DataKeySourceOptions, type StoredAndUnwrapped } from './data-key-source.ts';
import { agedKeys, cvcBucket, stableKeys, type Replacement } from './replacement.ts';
import { singleFlight } from './single-flight.ts';
import { createUnwrappedKeys, idText, type DataKey } from './unwrapped-keys.ts';

export type { DataKey };

/** How long data keys serve. */
export interface DataKeyLimits {
  /** Encryptions under one 'data' or 'cvc' key: random 96-bit nonces are safe up to 2^32, and far below by default. */
  readonly maxUses: number;
  /** After this long a 'data' key is replaced. */
  readonly maxAgeMs: number;
  /** Uses that a process reserves at a time; those left when it stops are lost. */
  readonly usesBlock: number;
  /**
   * How long an unwrapped key stays in memory, so for how long sealing survives an outage of key management. One that
   * is used past half of it is unwrapped again in the background.
   */
  readonly cacheTtlMs: number;
  /** Unwrapped keys in memory at most. */
  readonly cacheSize: number;
  /** How often keys past their time are looked for, to drop them from memory. */
  readonly dropIntervalMs: number;
}

export const DEFAULT_DATA_KEY_LIMITS: DataKeyLimits = {
  maxUses: 2 ** 28,
  maxAgeMs: 24 * 3600_000,
  usesBlock: 2 ** 16,
  cacheTtlMs: 5 * 60_000,
  cacheSize: 10_000,
  dropIntervalMs: 10_000,
};

export interface DataKeysOptions extends DataKeySourceOptions {
  readonly limits?: Partial<DataKeyLimits>;
  /** A miss costs a read of the database, and most often an unwrapping. */
  readonly observer?: CacheObserver;
}

/** The data keys of every tenant, unwrapped as needed. */
export interface DataKeys {
  /**
   * The key to seal `uses` values with now, at once where it is warm. Throws DomainError 'unavailable' where the store
   * or key management cannot be reached, and where the key to use now was tampered with.
   */
  forSealing(tenantId: string, uses: number): DataKey | Promise<DataKey>;
  /** As `forSealing`, under a key that is destroyed soon after values sealed now are past `retentionMs`. */
  forSealingCvc(tenantId: string, retentionMs: number, uses: number): DataKey | Promise<DataKey>;
  /** The stable HMAC key of a tenant. */
  forHashing(tenantId: string, purpose: 'fingerprint' | 'search'): DataKey | Promise<DataKey>;
  /**
   * The key with which a value was sealed; undefined where it has been destroyed or never was. Rejects with
   * DataKeyBroken where it was tampered with.
   */
  forOpening(tenantId: string, keyId: Buffer): DataKey | undefined | Promise<DataKey | undefined>;
  /** Forgets every unwrapped key of a tenant, those too that are being looked up now. */
  forget(tenantId: string): void;
  /** Unwrapped keys in memory. */
  readonly size: number;
  /** Stops looking for keys that are past their time. */
  close(): void;
}

export function createDataKeys(options: DataKeysOptions): DataKeys {
  const { store, clock, observer = unobservedCache } = options;
  const limits = { ...DEFAULT_DATA_KEY_LIMITS, ...options.limits };
  const source = createDataKeySource(options);
  const unwrapped = createUnwrappedKeys(clock, { ttlMs: limits.cacheTtlMs, size: limits.cacheSize });
  const active = createActiveKeys(clock, { ttlMs: limits.cacheTtlMs, size: limits.cacheSize });
  // How often each tenant was forgotten: what was looked up before that is not kept.
  const generations = new Map<string, number>();
  const generationOf = (tenantId: string): number => generations.get(tenantId) ?? 0;
  const timer = setInterval(dropExpired, limits.dropIntervalMs).unref();
  const once = singleFlight();
  const aged = agedKeys(limits.maxAgeMs);

  function dropExpired(): void {
    unwrapped.dropExpired();
    active.dropExpired();
  }

  function acquire(
    tenantId: string,
    purpose: DataKeyPurpose,
    uses: number,
    replacement: Replacement,
  ): DataKey | Promise<DataKey> {
    const name = `${tenantId}/${purpose}`;
    const warm = active.take(name, uses, replacement);
    if (warm === undefined) {
      observer.missed();
      return acquireCold(name, tenantId, purpose, uses, replacement);
    }
    observer.hit();
    if (active.isDue(name)) ahead(`active/${name}`, () => refresh(name, tenantId, purpose, 1, replacement));
    return warm;
  }

  /** What is warm serves on where it fails. */
  function ahead(name: string, work: () => Promise<unknown>): void {
    once(name, work).catch(() => undefined);
  }

  async function acquireCold(
    name: string,
    tenantId: string,
    purpose: DataKeyPurpose,
    uses: number,
    replacement: Replacement,
  ): Promise<DataKey> {
    for (;;) {
      // All who wait share one look-up, and may use up what it reserved.
      await once(`active/${name}`, () => refresh(name, tenantId, purpose, uses, replacement));
      const dataKey = active.take(name, uses, replacement);
      if (dataKey !== undefined) return dataKey;
    }
  }

  async function refresh(
    name: string,
    tenantId: string,
    purpose: DataKeyPurpose,
    uses: number,
    replacement: Replacement,
  ): Promise<void> {
    const block = replacement.counted ? Math.max(limits.usesBlock, uses) : Infinity;
    const generation = generationOf(tenantId);
    for (;;) {
      const stored = await store.findActive(tenantId, purpose);
      if (stored !== undefined && replacement.mayServe(stored, clock.now())) {
        const dataKey = await unwrap(stored, generation).catch(refuseUse);
        if (dataKey === undefined) continue;
        const usesLeft =
          active.usesLeftOf(name, stored.id, uses) ?? (replacement.counted ? await reserve(stored, block) : block);
        if (usesLeft !== undefined) return activate(name, { stored, dataKey }, usesLeft, generation);
      }
      const made = await source.make(tenantId, purpose, {
        uses: replacement.counted ? block : 0,
        destroyAt: (now) => replacement.destroyAt(now),
        replaces: stored?.id,
      });
      if (made !== undefined) {
        keepUnwrapped(made, generation);
        return activate(name, made, block, generation);
      }
    }
  }

  async function reserve(stored: StoredDataKey, block: number): Promise<number | undefined> {
    return (await store.reserveUses(stored.tenantId, stored.id, block, limits.maxUses)) ? block : undefined;
  }

  function activate(name: string, { stored, dataKey }: StoredAndUnwrapped, usesLeft: number, generation: number): void {
    if (generationOf(stored.tenantId) === generation) active.put(name, stored, dataKey, usesLeft);
  }

  function keepUnwrapped({ stored, dataKey }: StoredAndUnwrapped, generation: number): void {
    const { tenantId, destroyAt } = stored;
    if (generationOf(tenantId) === generation) unwrapped.put(tenantId, dataKey, destroyAt?.getTime() ?? Infinity);
  }

  async function unwrap(stored: StoredDataKey, generation: number): Promise<DataKey | undefined> {
    const dataKey = await source.unwrap(stored);
    if (dataKey !== undefined) keepUnwrapped({ stored, dataKey }, generation);
    return dataKey;
  }

  async function find(tenantId: string, id: string): Promise<DataKey | undefined> {
    const generation = generationOf(tenantId);
    const stored = await store.find(tenantId, id);
    // Due for destruction counts as destroyed, whenever the row goes.
    if (stored === undefined || (stored.destroyAt !== null && stored.destroyAt.getTime() <= clock.now())) {
      return undefined;
    }
    return unwrap(stored, generation);
  }

  return {
    forSealing: (tenantId, uses) => acquire(tenantId, 'data', uses, aged),
    forSealingCvc: (tenantId, retentionMs, uses) => acquire(tenantId, 'cvc', uses, cvcBucket(retentionMs)),
    forHashing: (tenantId, purpose) => acquire(tenantId, purpose, 0, stableKeys),
    forOpening(tenantId, keyId) {
      const warm = unwrapped.get(tenantId, keyId);
      if (warm === undefined) observer.missed();
      else observer.hit();
      if (warm !== undefined && !unwrapped.isDue(tenantId, keyId)) return warm;
      const id = idText(keyId);
      const name = `opening/${tenantId}/${id}`;
      if (warm === undefined) return once(name, () => find(tenantId, id));
      ahead(name, () => find(tenantId, id));
      return warm;
    },
    forget(tenantId) {
      generations.set(tenantId, generationOf(tenantId) + 1);
      unwrapped.forget(tenantId);
      active.forget(tenantId);
    },
    get size() {
      return unwrapped.size + active.size;
    },
    close: () => clearInterval(timer),
  };
}

// A new key in its place would hide that, and of hashes find nothing that was hashed before.
function refuseUse(error: unknown): never {
  if (!(error instanceof DataKeyBroken)) throw error;
  throw new DomainError('unavailable', 'A data key of the tenant was altered; an operator is to restore it.', {
    cause: error,
  });
}
