import { timingSafeEqual } from 'node:crypto';
import { invalid } from '../domain/errors.ts';
import type { KeyedHasher } from '../keys/keyed-hashes.ts';

/** Where a page ends: the creation time and id of its last item. */
export interface Position {
  createdAt: Date;
  id: string;
}

/**
 * Cursors that callers hand back unread: bound to the tenant and to the list that made them, and refused where anything
 * in them was altered.
 */
export interface Cursors {
  encode(tenantId: string, list: string, position: Position): Promise<string>;
  /** Throws 'invalid' for anything but a cursor of this tenant and list. */
  decode(tenantId: string, list: string, cursor: string): Promise<Position>;
}

const MAC_BYTES = 16;

export function createCursors(hasher: KeyedHasher): Cursors {
  async function mac(tenantId: string, list: string, payload: Buffer): Promise<Buffer> {
    // No token type has a space in its name, so that no fingerprint that a caller sees is ever a cursor's.
    const hash = await hasher.fingerprint(tenantId, `cursor of ${list}`, payload.toString('latin1'));
    return hash.subarray(0, MAC_BYTES);
  }

  return {
    async encode(tenantId, list, { createdAt, id }) {
      const payload = Buffer.from(JSON.stringify([createdAt.getTime(), id]));
      return Buffer.concat([await mac(tenantId, list, payload), payload]).toString('base64url');
    },
    async decode(tenantId, list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(MAC_BYTES);
      const expected = await mac(tenantId, list, payload);
      const given = bytes.subarray(0, MAC_BYTES);
      if (given.length !== MAC_BYTES || bytes.toString('base64url') !== cursor || !timingSafeEqual(given, expected)) {
        throw invalid('start', 'must be a cursor from pagination.next of this list');
      }
      const [createdAt, id] = JSON.parse(payload.toString('utf8')) as [number, string];
      return { createdAt: new Date(createdAt), id };
    },
  };
}

/** Cuts a list that was read one item too far into its page and the position after which the next one begins. */
export function cutPage<T>(items: T[], size: number): { items: T[]; last: T | undefined } {
  const page = items.slice(0, size);
  return { items: page, last: items.length > size ? page.at(-1) : undefined };
}
