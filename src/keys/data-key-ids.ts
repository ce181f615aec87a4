import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { StoredDataKey } from '../domain/data-keys.ts';
import { lengthPrefixed } from './length-prefixed.ts';
import { idText } from './unwrapped-keys.ts';

/** A wrapped data key was altered, or moved to another row, purpose, tenant or master key. */
export class DataKeyBroken extends Error {
  override readonly name = 'DataKeyBroken';
}

/** The key whose id it would be. */
type Named = Pick<StoredDataKey, 'tenantId' | 'purpose'>;

/**
 * The id of a data key: a UUID of version 8 (RFC 9562) that follows from the key itself, its tenant and its purpose.
 *
 * So the row of a key whose wrapped form was swapped with that of another one is found out before anything is sealed
 * or hashed under a key that would be lost once the row is mended. Envelopes name this id, so none opens under a second
 * key either, which AES-GCM by itself does not promise.
 */
export function dataKeyId(key: KeyObject | Buffer, { tenantId, purpose }: Named): string {
  const bytes = createHmac('sha256', key)
    .update(lengthPrefixed('tokenkeep data key id', tenantId, purpose))
    .digest()
    .subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return idText(bytes);
}

/** Whether a key belongs to the row that it was unwrapped from. Ids of the first keys, being random, do not tell. */
export function isKeyOfRow(key: KeyObject, row: Named & { readonly id: string }): boolean {
  if (row.id[VERSION_AT] !== '8') return true;
  return timingSafeEqual(Buffer.from(dataKeyId(key, row)), Buffer.from(row.id));
}

/** Of the version among the characters of a UUID. */
const VERSION_AT = 14;
