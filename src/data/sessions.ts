import type { AccessRule, Grants } from '../domain/access.ts';
import type { ApplicationType } from '../domain/applications.ts';
import type { LogEntry } from '../domain/logs.ts';
import type { Permission } from '../domain/permissions.ts';
import type { Session, SessionGrant } from '../domain/sessions.ts';
import type { Quotas, TenantSettings, TenantType } from '../domain/tenants.ts';
import type { Queryable, Statement } from './database.ts';
import { FOREIGN_KEY_VIOLATION, SqlError } from './failures.ts';
import { insertLogEntries, logParameters } from './logs.ts';
import { runForCount } from './row-counts.ts';

/** A session to store: digests, SHA-256 in lower-case hex, stand for its key and its nonce. */
export interface NewSession extends Session {
  keyDigest: string;
  nonceDigest: string;
}

/**
 * What a write of sessions gives, or 'no-application' where the application that it needs has been deleted meanwhile.
 */
async function unlessDeleted<Result>(write: Promise<Result>): Promise<Result | 'no-application'> {
  try {
    return await write;
  } catch (error) {
    // All foreign keys of sessions lead to an application, or to the tenant that it went with.
    if (error instanceof SqlError && error.code === FOREIGN_KEY_VIOLATION) return 'no-application';
    throw error;
  }
}

const INSERT: Statement = {
  name: 'insert-session',
  text: `
    with created as (
      insert into sessions (tenant_id, session_id, application_id, key_digest, nonce_digest, created_at, expires_at)
      values ($1, $2, $3, decode($4, 'hex'), decode($5, 'hex'), $6, $7)
    ), logged as (${insertLogEntries(8, 'true')})
    select 1`,
};

/** Stores a new session, which may do nothing yet; 'no-application' where that of the session is gone. */
export async function insertSession(
  queryable: Queryable,
  session: NewSession,
  log: LogEntry,
): Promise<'created' | 'no-application'> {
  const { tenantId, id, applicationId, keyDigest, nonceDigest, createdAt, expiresAt } = session;
  const values = [tenantId, id, applicationId, keyDigest, nonceDigest, createdAt, expiresAt];
  const inserted = await unlessDeleted(queryable.run(INSERT, [...values, ...logParameters([log])]));
  return inserted === 'no-application' ? inserted : 'created';
}

const FIND_BY_NONCE: Statement = {
  name: 'find-session-by-nonce',
  text: `
    select session_id as "id", authorized_by is not null as "isAuthorized" from sessions
    where tenant_id = $1 and nonce_digest = decode($2, 'hex') and expires_at > now()`,
};

/** The unexpired session of the tenant with this nonce, and whether the nonce has been used. */
export async function findSessionByNonce(
  queryable: Queryable,
  tenantId: string,
  nonceDigest: string,
): Promise<{ id: string; isAuthorized: boolean } | undefined> {
  const [session] = await queryable.run<{ id: string; isAuthorized: boolean }>(FIND_BY_NONCE, [tenantId, nonceDigest]);
  return session;
}

const AUTHORIZE: Statement = {
  name: 'authorize-session',
  text: `
    with authorized as (
      update sessions
      set authorized_by = $3, permissions = $4, rules = $5, expires_at = coalesce($6, expires_at)
      where tenant_id = $1 and session_id = $2 and authorized_by is null and expires_at > now()
      returning session_id
    ), logged as (${insertLogEntries(7, 'exists (select from authorized)')})
    select session_id from authorized`,
};

/**
 * Gives a session its access; of several at once, one does. 'not-open' where it has some already, or has ended;
 * 'no-application' where its authorizer is gone.
 */
export async function authorizeSession(
  queryable: Queryable,
  tenantId: string,
  id: string,
  { authorizedBy, permissions, rules, expiresAt }: SessionGrant,
  log: LogEntry,
): Promise<'authorized' | 'not-open' | 'no-application'> {
  const values = [tenantId, id, authorizedBy, permissions, JSON.stringify(rules), expiresAt];
  const authorized = await unlessDeleted(queryable.run(AUTHORIZE, [...values, ...logParameters([log])]));
  if (authorized === 'no-application') return authorized;
  return authorized.length > 0 ? 'authorized' : 'not-open';
}

/** Everything that a session's key decides. */
export interface SessionAccess {
  tenantId: string;
  tenantType: TenantType;
  quotas: Quotas;
  settings: TenantSettings;
  sessionId: string;
  applicationId: string;
  applicationType: ApplicationType;
  permissions: Permission[];
  rules: AccessRule[];
  /** The application that authorized it, and what that one may do now; null: none has. */
  authorizer: ({ id: string } & Grants) | null;
  /** When the access ends, by the session or an application that it depends on, whichever is first. */
  expiresAt: Date;
}

// A function of the owner's: before a key is looked up, nobody knows whose rows may be seen.
const FIND_ACCESS: Statement = {
  name: 'find-session-access',
  text: `
    select tenant_id as "tenantId", tenant_type as "tenantType", quotas, settings, session_id as "sessionId",
      permissions, rules, application_id as "applicationId", application_type as "applicationType", authorizer,
      expires_at as "expiresAt"
    from find_session_access(decode($1, 'hex'))`,
};

/** What the session with this digest of a key may do; undefined where it is unknown or has ended. */
export async function findSessionAccess(queryable: Queryable, digest: string): Promise<SessionAccess | undefined> {
  const [access] = await queryable.run<SessionAccess>(FIND_ACCESS, [digest]);
  return access;
}

const SWEEP: Statement = {
  text: `
    with due as (
      select tenant_id, session_id from sessions where expires_at <= now() order by expires_at limit $1
      for update skip locked
    ), removed as (
      delete from sessions s using due d where s.tenant_id = d.tenant_id and s.session_id = d.session_id
      returning s.session_id
    )
    select count(*)::integer as count from removed`,
};

/** Removes at most `limit` sessions that have ended; gives how many. */
export function sweepExpiredSessions(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP, [limit]);
}
