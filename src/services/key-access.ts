import type { Database } from '../data/database.ts';
import { findKeyAccess } from '../data/key-access.ts';
import type { AccessRecord } from './authentication.ts';

/**
 * What the application whose key has this digest may do, as authentication remembers it; undefined where there is no
 * such key, or it has expired.
 */
export async function keyAccess(database: Database, digest: string): Promise<AccessRecord | undefined> {
  const access = await findKeyAccess(database, digest);
  if (access === undefined) return undefined;
  const { expiresAt, ...caller } = access;
  return { caller, endsAt: expiresAt?.getTime() ?? Infinity };
}
