import type { Json } from '../domain/json.ts';
import type { DataKey, DataKeys } from './data-keys.ts';
import { keyIdOf, openEnvelope, SealBroken, sealEnvelope } from './envelope.ts';
import type { SealedPlace } from './envelope.ts';

export { SealBroken };
export type { SealedPlace };

/** A value and where it is going. */
export interface ToSeal {
  readonly place: SealedPlace;
  readonly plaintext: Buffer | string;
}

/** A sealed value and where it was found. */
export interface ToOpen {
  readonly place: SealedPlace;
  readonly sealed: Buffer;
}

/** Seals fields of rows with AES-256-GCM under data keys of their tenant. */
export interface Sealer {
  seal(place: SealedPlace, plaintext: Buffer | string): Promise<Buffer>;
  /** Several values, in the order given. */
  sealMany(values: readonly ToSeal[]): Promise<Buffer[]>;
  /** Under a key that is destroyed soon after `retentionSeconds`, so that then no backup gives the value back. */
  sealCvc(place: SealedPlace, plaintext: Buffer | string, retentionSeconds: number): Promise<Buffer>;
  sealJson(place: SealedPlace, value: Json): Promise<Buffer>;
  /** The plaintext; throws SealBroken. */
  open(place: SealedPlace, sealed: Buffer): Promise<Buffer>;
  /** Several values, of any tenants, in the order given; throws SealBroken where any is broken. */
  openMany(values: readonly ToOpen[]): Promise<Buffer[]>;
  openJson(place: SealedPlace, sealed: Buffer): Promise<Json>;
}

export function createSealer(dataKeys: DataKeys): Sealer {
  async function open(place: SealedPlace, sealed: Buffer): Promise<Buffer> {
    const dataKey = await dataKeys.forOpening(place.tenantId, keyIdOf(sealed));
    if (dataKey === undefined) throw new SealBroken('the key of a sealed value does not exist');
    return openEnvelope(dataKey, place, sealed);
  }

  async function seal(place: SealedPlace, plaintext: Buffer | string): Promise<Buffer> {
    return sealEnvelope(await dataKeys.forSealing(place.tenantId, 1), place, plaintext);
  }

  return {
    seal,
    open,
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
    sealJson: (place, value) => seal(place, JSON.stringify(value)),
    openMany: (values) => Promise.all(values.map(({ place, sealed }) => open(place, sealed))),
    async openJson(place, sealed) {
      const plaintext = await open(place, sealed);
      return JSON.parse(plaintext.toString()) as Json;
    },
  };
}
