import type { Json } from '../domain/json.ts';
import type { DataKeys } from './data-keys.ts';

/** Where a sealed value belongs. It opens nowhere else. */
export interface SealedPlace {
  readonly tenantId: string;
  readonly table: string;
  readonly rowId: string;
  readonly column: string;
}

/** A sealed value was altered, cut short, moved to another place, or its key has been destroyed. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

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
  /** Several values of one tenant, in the order given. */
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

export function createSealer(_dataKeys: DataKeys): Sealer {
  throw new Error('unwritten');
}
