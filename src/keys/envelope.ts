import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { DataKey } from './data-keys.ts';
import { lengthPrefixed } from './length-prefixed.ts';

/**
 * Where a sealed value belongs. It opens nowhere else, whoever can write to the database: not in the row of another
 * token, that a caller may read, nor in another column, which masks leave alone, nor at another tenant.
 */
export interface SealedPlace {
  readonly tenantId: string;
  readonly table: string;
  readonly rowId: string;
  readonly column: string;
  /**
   * What tells the row from every other state of it, and from others that had its id: an older value does not open in
   * it. Where access to the value hangs on a column that is not sealed, that column is part of it.
   */
  readonly version: string;
}

/** A sealed value as it was found. */
export interface SealedValue {
  readonly place: SealedPlace;
  /** In which its row says that it is sealed. */
  readonly format: number;
  readonly sealed: Buffer;
}

/** A sealed value was altered, cut short, moved to another place or put back, or its key is gone. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

// format (1 byte) | data key id (16) | nonce (12) | ciphertext | tag (16)
const KEY_ID_END = 17;
const NONCE_END = 29;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The id of the data key of a sealed value; throws SealBroken for what cannot be one. */
export function keyIdOf({ sealed, format }: SealedValue): Buffer {
  if (sealed.length < NONCE_END + TAG_BYTES || sealed[0] !== format) throw broken();
  return sealed.subarray(1, KEY_ID_END);
}

export function sealEnvelope({ id, key }: DataKey, place: SealedPlace, plaintext: Buffer | string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(bindingOf(place, SEALED_FORMAT, id));
  const ciphertext = typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext);
  const rest = cipher.final();
  return Buffer.concat([Buffer.of(SEALED_FORMAT), id, nonce, ciphertext, rest, cipher.getAuthTag()]);
}

/** The plaintext of what `keyIdOf` has found to be of its row's format; throws SealBroken. */
export function openEnvelope({ id, key }: DataKey, { place, format, sealed }: SealedValue): Buffer {
  const nonce = sealed.subarray(KEY_ID_END, NONCE_END);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bindingOf(place, format, id));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_END, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw broken();
  }
}

/**
 * The additional data: everything that a value must not be moved away from. A row that is put back whole, each of its
 * columns as they once were, opens: that it is an old one only the audit log shows.
 */
function bindingOf({ tenantId, table, rowId, column, version }: SealedPlace, format: number, keyId: Buffer): Buffer {
  const versions = format === 1 ? [] : [version];
  return lengthPrefixed(Buffer.of(format), tenantId, table, rowId, column, ...versions, keyId);
}

function broken(): SealBroken {
  return new SealBroken('a sealed value was altered, or belongs to another place');
}
