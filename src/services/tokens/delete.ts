import { deleteToken as deleteRow, findToken } from '../../data/tokens.ts';
import { decideAccess } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError } from '../../domain/errors.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import type { TokenParts } from './create.ts';
import { noGrant, noSuchToken } from './read.ts';

/** How often a token is looked at again because it changed between the decision and the delete. */
const ATTEMPTS = 5;

/** Deletes a token for good; the audit log keeps its id. */
export async function deleteToken(parts: TokenParts, caller: Caller, id: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await findToken(parts.database, caller.tenantId, id);
    if (row === undefined) throw noSuchToken();
    if (decideAccess(caller, 'token:delete', row) === undefined) throw noGrant('token:delete');
    if (await deleteRow(parts.database, row, tokenLogEntry(actorOf(caller), 'delete', row))) return;
  }
  throw new DomainError('conflict', 'The token is being changed by others; try again.');
}
