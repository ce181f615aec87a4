import { randomUUID } from 'node:crypto';
import type { DataKeyPurpose, DataKeyStore, StoredDataKey } from '../domain/data-keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyManagement, MasterKey } from './key-management.ts';
import { agedKeys, cvcBucket, stableKeys, type Replacement } from './replacement.ts';
import { singleFlight } from './single-flight.ts';
import { createUnwrappedKeys, idText, takeKey, type DataKey } from './unwrapped-keys.ts';

export type { DataKey };

/** How long data keys serve. */
export interface DataKeyLimits {
  /** Encryptions under one 'data' or 'cvc' key: random 96-bit nonces are safe up to 2^32, and far below by default. */
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
  /** As `forSealing`, under a key that is destroyed soon after values sealed now are past `retentionMs`. */
  forSealingCvc(tenantId: string, retentionMs: number, uses: number): DataKey | Promise<DataKey>;
  /** The stable HMAC key of a tenant. */
  forHashing(tenantId: string, purpose: 'fingerprint' | 'search'): DataKey | Promise<DataKey>;
  /** The key with which a value was sealed; undefined where it has been destroyed or never was. */
  forOpening(tenantId: string, keyId: Buffer): DataKey | undefined | Promise<DataKey | undefined>;
  /** Forgets every unwrapped key of a tenant. */
  forget(tenantId: string): void;
}

/** A key that this process seals with, and what it may still do with it. */
interface ActiveKey {
  readonly tenantId: string;
  readonly stored: StoredDataKey;
  readonly dataKey: DataKey;
  /** By then it is looked up again. */
  readonly until: number;
  usesLeft: number;
}

export function createDataKeys({ management, store, clock, limits: given = {} }: DataKeysOptions): DataKeys {
  const limits = { ...DEFAULT_DATA_KEY_LIMITS, ...given };
  const unwrapped = createUnwrappedKeys(clock, { ttlMs: limits.cacheTtlMs, size: limits.cacheSize });
  const active = new Map<string, ActiveKey>();
  const once = singleFlight();
  const aged = agedKeys(limits.maxAgeMs);

  function takeActive(name: string, uses: number, replacement: Replacement): DataKey | undefined {
    const entry = active.get(name);
    if (entry === undefined || entry.usesLeft < uses || clock.now() >= entry.until) return undefined;
    if (!replacement.mayServe(entry.stored, clock.now())) return undefined;
    entry.usesLeft -= uses;
    return entry.dataKey;
  }

  function acquire(
    tenantId: string,
    purpose: DataKeyPurpose,
    uses: number,
    replacement: Replacement,
  ): DataKey | Promise<DataKey> {
    const name = `${tenantId}/${purpose}`;
    return takeActive(name, uses, replacement) ?? acquireCold(name, tenantId, purpose, uses, replacement);
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
      const dataKey = takeActive(name, uses, replacement);
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
    for (;;) {
      const stored = await store.findActive(tenantId, purpose);
      if (stored !== undefined && replacement.mayServe(stored, clock.now())) {
        const dataKey = await unwrap(stored);
        const usesLeft =
          usesLeftOf(name, stored.id, uses) ?? (replacement.counted ? await reserve(stored, block) : block);
        if (usesLeft !== undefined) return remember(name, stored, dataKey, usesLeft);
      }
      const made = await makeKey(tenantId, purpose, block, replacement, stored?.id);
      if (made !== undefined) return remember(name, made.stored, made.dataKey, block);
    }
  }

  /** What this process reserved earlier is still its own. */
  function usesLeftOf(name: string, id: string, uses: number): number | undefined {
    const entry = active.get(name);
    return entry !== undefined && entry.stored.id === id && entry.usesLeft >= uses ? entry.usesLeft : undefined;
  }

  async function reserve(stored: StoredDataKey, block: number): Promise<number | undefined> {
    return (await store.reserveUses(stored.tenantId, stored.id, block, limits.maxUses)) ? block : undefined;
  }

  /** Undefined where another process was first: its key is the one to use. */
  async function makeKey(
    tenantId: string,
    purpose: DataKeyPurpose,
    block: number,
    replacement: Replacement,
    replaces: string | undefined,
  ): Promise<{ stored: StoredDataKey; dataKey: DataKey } | undefined> {
    const { plaintext, wrapped } = await management.createDataKey(masterOf(purpose), tenantId);
    const now = clock.now();
    const stored: StoredDataKey = {
      tenantId,
      id: randomUUID(),
      purpose,
      wrapped,
      createdAt: new Date(now),
      uses: replacement.counted ? block : 0,
      destroyAt: replacement.destroyAt(now),
    };
    const dataKey = takeKey(stored.id, plaintext);
    // Committed before its first use: what is sealed under a key that is not stored is lost.
    if (!(await store.activate(stored, replaces))) return undefined;
    unwrapped.put(tenantId, dataKey, stored.destroyAt?.getTime() ?? Infinity);
    return { stored, dataKey };
  }

  function remember(name: string, stored: StoredDataKey, dataKey: DataKey, usesLeft: number): void {
    active.delete(name);
    active.set(name, {
      tenantId: stored.tenantId,
      stored,
      dataKey,
      until: clock.now() + limits.cacheTtlMs,
      usesLeft,
    });
    if (active.size > limits.cacheSize) active.delete(active.keys().next().value!);
  }

  async function unwrap(stored: StoredDataKey): Promise<DataKey> {
    const { tenantId, id, purpose, wrapped, destroyAt } = stored;
    const plaintext = await management.unwrapDataKey(masterOf(purpose), tenantId, wrapped);
    const dataKey = takeKey(id, plaintext);
    unwrapped.put(tenantId, dataKey, destroyAt?.getTime() ?? Infinity);
    return dataKey;
  }

  async function find(tenantId: string, id: string): Promise<DataKey | undefined> {
    const stored = await store.find(tenantId, id);
    // Due for destruction counts as destroyed, whenever the row goes.
    if (stored === undefined || (stored.destroyAt !== null && stored.destroyAt.getTime() <= clock.now())) {
      return undefined;
    }
    return unwrap(stored);
  }

  return {
    forSealing: (tenantId, uses) => acquire(tenantId, 'data', uses, aged),
    forSealingCvc: (tenantId, retentionMs, uses) => acquire(tenantId, 'cvc', uses, cvcBucket(retentionMs)),
    forHashing: (tenantId, purpose) => acquire(tenantId, purpose, 0, stableKeys),
    forOpening(tenantId, keyId) {
      const warm = unwrapped.get(tenantId, keyId);
      if (warm !== undefined) return warm;
      const id = idText(keyId);
      return once(`opening/${tenantId}/${id}`, () => find(tenantId, id));
    },
    forget(tenantId) {
      unwrapped.forget(tenantId);
      for (const [name, entry] of active) if (entry.tenantId === tenantId) active.delete(name);
    },
  };
}

function masterOf(purpose: DataKeyPurpose): MasterKey {
  return purpose === 'cvc' ? 'cvc' : 'tokens';
}
