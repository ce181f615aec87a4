import type { DataKey, DataKeys } from './data-keys.ts';
import { DataKeyBroken } from './data-key-ids.ts';
import { keyIdOf, openEnvelope, SealBroken, sealEnvelope } from './envelope.ts';
import type { SealedPlace, SealedValue } from './envelope.ts';

export type { SealedPlace, SealedValue };

/** A value and where it is going. */
export interface ToSeal {
  readonly place: SealedPlace;
  readonly plaintext: Buffer | string;
}

/** Seals fields of rows with AES-256-GCM under data keys of their tenant. */
export interface Sealer {
  seal(place: SealedPlace, plaintext: Buffer | string): Promise<Buffer>;
  /** Several values, in the order given. */
  sealMany(values: readonly ToSeal[]): Promise<Buffer[]>;
  /** Under a key that is destroyed soon after `retentionSeconds`, so that then no backup gives the value back. */
  sealCvc(place: SealedPlace, plaintext: Buffer | string, retentionSeconds: number): Promise<Buffer>;
  /** Several values, of any tenants, in the order given: undefined for one that is broken, which spoils no other. */
  openMany(values: readonly SealedValue[]): Promise<(Buffer | undefined)[]>;
}

export interface SealerOptions {
  /** Told of every value that is found broken. */
  readonly onBroken?: (place: SealedPlace) => void;
}

export function createSealer(dataKeys: DataKeys, { onBroken }: SealerOptions = {}): Sealer {
  async function keyOf(value: SealedValue): Promise<DataKey> {
    const keyId = keyIdOf(value);
    try {
      const dataKey = await dataKeys.forOpening(value.place.tenantId, keyId);
      if (dataKey !== undefined) return dataKey;
    } catch (error) {
      if (!(error instanceof DataKeyBroken)) throw error;
      throw new SealBroken('the key of a sealed value was altered, or belongs to another row', { cause: error });
    }
    throw new SealBroken('the key of a sealed value does not exist');
  }

  async function open(value: SealedValue): Promise<Buffer | undefined> {
    try {
      return openEnvelope(await keyOf(value), value);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      onBroken?.(value.place);
      return undefined;
    }
  }

  return {
    async seal(place, plaintext) {
      return sealEnvelope(await dataKeys.forSealing(place.tenantId, 1), place, plaintext);
    },
    async sealMany(values) {
      const uses = new Map<string, number>();
      for (const { place } of values) uses.set(place.tenantId, (uses.get(place.tenantId) ?? 0) + 1);
      const keys = new Map<string, DataKey>();
      for (const [tenantId, count] of uses) keys.set(tenantId, await dataKeys.forSealing(tenantId, count));
      return values.map(({ place, plaintext }) => sealEnvelope(keys.get(place.tenantId)!, place, plaintext));
    },
    async sealCvc(place, plaintext, retentionSeconds) {
      const dataKey = await dataKeys.forSealingCvc(place.tenantId, retentionSeconds * 1000, 1);
      return sealEnvelope(dataKey, place, plaintext);
    },
    openMany: (values) => Promise.all(values.map(open)),
  };
}
