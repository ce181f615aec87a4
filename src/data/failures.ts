import pg from 'pg';
import { DomainError } from '../domain/errors.ts';

export const UNIQUE_VIOLATION = '23505';
export const CHECK_VIOLATION = '23514';
export const FOREIGN_KEY_VIOLATION = '23503';
const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';

/** Postgres refused a statement. Its own message and detail stay behind: they can quote values. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  /** SQLSTATE. */
  readonly code: string;
  readonly constraint: string | undefined;

  constructor(statement: string, code: string, constraint: string | undefined) {
    super(`Postgres refused the statement ${statement} (SQLSTATE ${code})`);
    this.code = code;
    this.constraint = constraint;
  }
}

/** Whether `error` says that a row broke the constraint of this name. */
export function breaksConstraint(error: unknown, code: string, constraint: string): boolean {
  return error instanceof SqlError && error.code === code && error.constraint === constraint;
}

/**
 * Postgres ended a statement that took longer than it may (query_canceled). Unlike with whatever else makes the
 * database unavailable, the connection is sound.
 */
export class StatementTimeout extends DomainError {
  constructor() {
    super('unavailable', `Postgres did not answer in time (SQLSTATE ${QUERY_CANCELED})`);
  }
}

/** Postgres did not grant a lock in time, or ended a deadlock by refusing it. Whoever begins anew may well get it. */
export class LockNotGranted extends DomainError {}

/** What of an SQLSTATE says that Postgres cannot serve now, whatever the statement. */
const UNAVAILABLE: Record<string, string> = {
  '08': 'the connection to Postgres was lost',
  '28': 'Postgres refused the credentials',
  '3D': 'the Postgres database does not exist',
  '53': 'Postgres is out of resources',
  // Class 57: the states of a server that starts, stops or crashes.
  '57': 'Postgres is stopping or starting',
  // Class 58: an I/O error of the server.
  '58': 'Postgres reported a system error',
};
// lock_not_available, idle_in_transaction_session_timeout, a standby that cannot be written, a table that is not there
// or may not be used (the audit log, above all: what cannot be logged must not be done), and what passes when the same
// is asked again: serialization_failure, deadlock_detected, and "cached plan must not change result type", which
// prepared statements of this connection give after a migration beside them (0A000).
const UNAVAILABLE_STATES: Record<string, string> = {
  '0A000': 'a prepared statement no longer fits the schema',
  '40001': 'concurrent changes were in the way',
  [DEADLOCK_DETECTED]: 'concurrent changes were in the way',
  [LOCK_NOT_AVAILABLE]: 'Postgres did not grant a lock in time',
  '25P03': 'the connection to Postgres was lost',
  '25006': 'Postgres is read-only',
  '42501': 'Postgres does not grant what is needed: check the privileges of the database role',
  '42P01': 'a table is missing: run "tokenkeep migrate"',
};

/** Why Postgres cannot serve now; undefined where it is the statement that it refuses. */
function reasonOf(code: string, constraint: string | undefined): string | undefined {
  // A check without a name is that of a partitioned table: none of its partitions takes the row.
  if (code === CHECK_VIOLATION && constraint === undefined) return 'a table has no partition for what is to be written';
  return UNAVAILABLE_STATES[code] ?? UNAVAILABLE[code.slice(0, 2)];
}

/**
 * The one form in which failures of the driver leave this room. Anything that is no answer of Postgres is a connection
 * that could not be made or broke; errors of our own code pass unchanged.
 */
export function translateFailure(error: unknown, statement: string): unknown {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? 'XX000';
    if (code === QUERY_CANCELED) return new StatementTimeout();
    const reason = reasonOf(code, error.constraint);
    if (reason === undefined) return new SqlError(statement, code, error.constraint);
    const isLock = code === LOCK_NOT_AVAILABLE || code === DEADLOCK_DETECTED;
    return new (isLock ? LockNotGranted : DomainError)('unavailable', `${reason} (SQLSTATE ${code})`);
  }
  if (error instanceof TypeError || error instanceof RangeError || error instanceof DomainError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return new DomainError('unavailable', `Postgres is unreachable${code}`);
}
