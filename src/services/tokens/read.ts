import { findToken } from '../../data/tokens.ts';
import { decideAccess } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError } from '../../domain/errors.ts';
import type { ShownToken } from '../../domain/shown-token.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import type { TokenParts } from './create.ts';
import { openTokens } from './open.ts';
import { showToken } from './show.ts';

/** 'not-found' for a token of this tenant that is not there, and alike for those of others. */
export function noSuchToken(): DomainError {
  return new DomainError('not-found', 'There is no token with this id.');
}

/** 'forbidden' for a token that no grant of the permission covers. */
export function noGrant(permission: string): DomainError {
  return new DomainError('forbidden', `No grant of ${permission} covers this token.`);
}

/** One token, as the caller's grants of `token:read` show it. The read is logged before anything leaves. */
export async function readToken(parts: TokenParts, caller: Caller, id: string): Promise<ShownToken> {
  const row = await findToken(parts.database, caller.tenantId, id);
  if (row === undefined) throw noSuchToken();
  const transform = decideAccess(caller, 'token:read', row);
  if (transform === undefined) throw noGrant('token:read');
  const [token] = await openTokens(parts, caller, 'read', [row]);
  await parts.audit.record([tokenLogEntry(actorOf(caller), 'read', row)]);
  return showToken(token!, transform);
}
