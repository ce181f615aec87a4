import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DataKey } from './data-keys.ts';
import { lengthPrefixed } from './length-prefixed.ts';

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

// format version (1 byte) | data key id (16) | nonce (12) | ciphertext | tag (16)
const FORMAT = Buffer.from([1]);
const KEY_ID_END = 17;
const NONCE_END = 29;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The id of the data key of a sealed value; throws SealBroken for what cannot be one. */
export function keyIdOf(sealed: Buffer): Buffer {
  if (sealed.length < NONCE_END + TAG_BYTES || sealed[0] !== FORMAT[0]) throw broken();
  return sealed.subarray(1, KEY_ID_END);
}

export function sealEnvelope({ id, key }: DataKey, place: SealedPlace, plaintext: Buffer | string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(bindingOf(place, id));
  const ciphertext = typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext);
  const rest = cipher.final();
  return Buffer.concat([FORMAT, id, nonce, ciphertext, rest, cipher.getAuthTag()]);
}

/** The plaintext; throws SealBroken. */
export function openEnvelope({ id, key }: DataKey, place: SealedPlace, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(KEY_ID_END, NONCE_END);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bindingOf(place, id));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_END, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw broken();
  }
}

/** The additional data: everything that a value must not be moved away from. */
function bindingOf({ tenantId, table, rowId, column }: SealedPlace, keyId: Buffer): Buffer {
  return lengthPrefixed(FORMAT, tenantId, table, rowId, column, keyId);
}

function broken(): SealBroken {
  return new SealBroken('a sealed value was altered, or belongs to another place');
}
