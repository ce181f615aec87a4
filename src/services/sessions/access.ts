import type { Database } from '../../data/database.ts';
import { findSessionAccess } from '../../data/sessions.ts';
import type { Grants } from '../../domain/access.ts';
import { findExcess } from '../../domain/grants-cover.ts';
import type { AccessRecord } from '../authentication.ts';

const NOTHING: Grants = { permissions: [], rules: [] };

/** What a session may do now: what it was granted, as long as its authorizer could grant it all again. */
function grantsNow(granted: Grants, authorizer: Grants | null): Grants {
  if (authorizer === null) return NOTHING;
  const { permissions, rules } = granted;
  return findExcess(granted, authorizer).length === 0 ? { permissions, rules } : NOTHING;
}

/**
 * What the session whose key has this digest may do, as authentication remembers it; undefined where there is none, or
 * it has ended. It ends with either of the applications that it comes from, and follows what its authorizer may do.
 */
export async function sessionAccess(database: Database, digest: string): Promise<AccessRecord | undefined> {
  const access = await findSessionAccess(database, digest);
  if (access === undefined) return undefined;
  const { authorizer, expiresAt, ...caller } = access;
  return {
    // Requests of all its sessions count together, or a browser would have more of them by making more sessions.
    caller: { ...caller, keyId: caller.applicationId, ...grantsNow(access, authorizer) },
    ...(authorizer === null ? { isPending: true } : { follows: [authorizer.id] }),
    endsAt: expiresAt.getTime(),
  };
}
