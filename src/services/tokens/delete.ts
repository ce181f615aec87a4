import { deleteToken as deleteRow, findToken } from '../../data/tokens.ts';
import { decideAccess } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import type { TokenParts } from './create.ts';
import { noGrant, noSuchToken } from './read.ts';

/** Deletes a token for good; the audit log keeps its id. */
export async function deleteToken(parts: TokenParts, caller: Caller, id: string): Promise<void> {
  const row = await findToken(parts.database, caller.tenantId, id);
  if (row === undefined) throw noSuchToken();
  if (decideAccess(caller, 'token:delete', row) === undefined) throw noGrant('token:delete');
  const deleted = await deleteRow(parts.database, caller.tenantId, id, tokenLogEntry(actorOf(caller), 'delete', row));
  if (!deleted) throw noSuchToken();
}
