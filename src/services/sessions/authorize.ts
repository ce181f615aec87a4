import { authorizeSession as authorizeRow, findSessionByNonce } from '../../data/sessions.ts';
import { checkAccess, normalizeRules, type RequestedAccess } from '../../domain/application-access.ts';
import type { Caller } from '../../domain/caller.ts';
import { DomainError, ViolationCollector, type Violations } from '../../domain/errors.ts';
import { type ExcessiveGrant, findExcess } from '../../domain/grants-cover.ts';
import type { Permission } from '../../domain/permissions.ts';
import { SESSION_LIMITS, type SessionGrant } from '../../domain/sessions.ts';
import { readExpiry } from '../applications.ts';
import { badKey } from '../authentication.ts';
import { actorOf, logEntry } from '../log-entries.ts';
import { digestOfNonce, type SessionParts } from './create.ts';

export interface SessionAuthorization {
  nonce: string;
  permissions?: string[];
  rules?: RequestedAccess['rules'];
  expires_at?: string | null;
}

/**
 * The end that an authorization gives a session; null for the one that it has. Records it where it is none that can be
 * given.
 */
export function readSessionEnd(
  text: string | null | undefined,
  now: number,
  violations: ViolationCollector,
): Date | null {
  const end = readExpiry(text, now, violations);
  if (end !== null && end.getTime() > now + SESSION_LIMITS.longestLifetimeMs) {
    violations.add('expires_at', `must be at most ${SESSION_LIMITS.longestLifetimeMs / 3_600_000} hours from now`);
  }
  return end;
}

/** Throws 'forbidden', naming each grant that gives more than the caller has. */
function refuseExcess(excess: readonly ExcessiveGrant[], { permissions = [], rules = [] }: SessionAuthorization): void {
  if (excess.length === 0) return;
  const violations: Violations = {};
  for (const grant of excess) {
    const path =
      'priority' in grant
        ? `rules[${rules.findIndex((rule) => rule.priority === grant.priority)}]`
        : `permissions[${permissions.indexOf(grant.permission)}]`;
    (violations[path] ??= []).push(`must not grant more of ${grant.permission} than the application itself has`);
  }
  throw new DomainError('forbidden', 'A session can be granted no more than the application that authorizes it has.', {
    violations,
  });
}

// A private application gives it, so it may be whatever one may hold.
function readGrant(
  { permissions = [], rules = [], expires_at: end }: SessionAuthorization,
  now: number,
): Omit<SessionGrant, 'authorizedBy'> {
  const violations = new ViolationCollector();
  checkAccess({ type: 'private', permissions, rules }, violations);
  const expiresAt = readSessionEnd(end, now, violations);
  violations.throwIfAny();
  return { permissions: permissions as Permission[], rules: normalizeRules(rules), expiresAt };
}

/**
 * Grants a session, known by its nonce, part of what the caller may do.
 *
 * Throws 'invalid', 'forbidden' where that would be more than the caller has, 'not-found' for a nonce of no session of
 * the tenant that still lives, 'conflict' for one that has been used, 'unauthenticated' where the caller's application
 * is deleted meanwhile.
 */
export async function authorizeSession(
  { database, clock }: SessionParts,
  caller: Caller,
  authorization: SessionAuthorization,
): Promise<void> {
  const { tenantId, applicationId } = caller;
  const grant = { authorizedBy: applicationId, ...readGrant(authorization, clock.now()) };
  refuseExcess(findExcess(grant, caller), authorization);
  const session = await findSessionByNonce(database, tenantId, digestOfNonce(authorization.nonce));
  if (session === undefined) throw new DomainError('not-found', 'There is no session with this nonce.');
  const log = logEntry(actorOf(caller), 'authorize', 'session', session.id);
  const outcome = session.isAuthorized ? 'not-open' : await authorizeRow(database, tenantId, session.id, grant, log);
  if (outcome === 'no-application') throw badKey();
  if (outcome === 'not-open') throw new DomainError('conflict', 'The nonce has been used already.');
}
