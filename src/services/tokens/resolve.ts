import { findTokens, type TokenRow } from '../../data/tokens.ts';
import { decideAccess } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError, type ViolationCollector } from '../../domain/errors.ts';
import type { LogOperation } from '../../domain/logs.ts';
import type { Permission } from '../../domain/permissions.ts';
import type { Token } from '../../domain/tokens.ts';
import type { NamedAt } from '../../expressions/references.ts';
import { actorOf, tokenLogEntry } from '../log-entries.ts';
import type { TokenParts } from './create.ts';
import { openTokens } from './open.ts';

export interface ResolveRequest {
  /** The ids that it names, and where. */
  named: NamedAt;
  /** What is wrong with it so far, to be reported with ids that are unknown. */
  violations: ViolationCollector;
  /** The property that names them, under which too many are reported. */
  path: string;
  permission: Extract<Permission, 'token:read' | 'token:use'>;
  /** Logged for every token before any plaintext is handed on. */
  operation: LogOperation;
  /** Tokens that the request may name. */
  limit: number;
}

function permitEach(caller: Caller, rows: readonly TokenRow[], permission: ResolveRequest['permission']): void {
  const refused = rows.filter((row) => {
    const transform = decideAccess(caller, permission, row);
    // Reading shows plaintext to the caller, so that a mask must not be avoidable here. Using hands it to code that
    // somebody else answers for: that is what `token:use` without a revealing transform is for.
    return permission === 'token:read' ? transform !== 'reveal' : transform === undefined;
  });
  if (refused.length === 0) return;
  const needed = permission === 'token:read' ? 'token:read with the transform reveal' : permission;
  throw new DomainError('forbidden', `No grant of ${needed} covers ${refused.map(({ id }) => id).join(', ')}.`);
}

/** Says where, and not what: an id that does not exist may be data in the wrong place. */
function refuseUnknown(named: NamedAt, rows: readonly TokenRow[], violations: ViolationCollector): void {
  const found = new Set(rows.map((row) => row.id));
  for (const [id, paths] of named) {
    if (found.has(id)) continue;
    for (const path of paths) violations.add(path, 'names a token that does not exist');
  }
  violations.throwIfAny();
}

/**
 * The plaintext of tokens that a request names, all or none.
 *
 * Throws 'invalid' where there are faults already, more than the limit or, under each property that names it, one is
 * unknown, and 'forbidden', naming the ids, where a grant is missing; 'unprocessable', naming them too, where any is
 * damaged.
 */
export async function resolveTokens(
  parts: TokenParts,
  caller: Caller,
  { named, violations, path, permission, operation, limit }: ResolveRequest,
): Promise<Map<string, Token>> {
  const isTooMany = named.size > limit;
  if (isTooMany) violations.add(path, `must not name more than ${limit} tokens`);
  if (isTooMany || named.size === 0) violations.throwIfAny();
  if (named.size === 0) return new Map();
  const rows = await findTokens(parts.database, caller.tenantId, [...named.keys()]);
  refuseUnknown(named, rows, violations);
  permitEach(caller, rows, permission);
  const tokens = await openTokens(parts, caller, operation, rows);
  await parts.audit.record(rows.map((row) => tokenLogEntry(actorOf(caller), operation, row)));
  return new Map(tokens.map((token) => [token.id, token]));
}
