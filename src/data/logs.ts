import type { LogEntry } from '../domain/logs.ts';
import type { Queryable, Statement } from './database.ts';
import { runForCount } from './row-counts.ts';

/**
 * The insert of log entries that goes, as a common table expression, into the statement that makes the change it
 * reports: neither can exist without the other. `l` is an entry, and only those that meet `condition` are written.
 *
 * Takes the nine parameters of `logParameters`, the first of them at `$first`.
 */
export function insertLogEntries(first: number, condition: string): string {
  const types = ['uuid', 'timestamptz', 'uuid', 'uuid', 'text', 'text', 'text', 'text', 'text'];
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
  return `
    insert into logs
      (tenant_id, created_at, log_id, actor_id, actor_type, entity_type, entity_id, operation, message)
    select l.*
    from unnest(${arrays}) as l
      (tenant_id, created_at, log_id, actor_id, actor_type, entity_type, entity_id, operation, message)
    where ${condition}`;
}

export function logParameters(entries: readonly LogEntry[]): unknown[] {
  return [
    entries.map((entry) => entry.tenantId),
    entries.map((entry) => entry.createdAt),
    entries.map((entry) => entry.id),
    entries.map((entry) => entry.actorId),
    entries.map((entry) => entry.actorType),
    entries.map((entry) => entry.entityType),
    entries.map((entry) => entry.entityId),
    entries.map((entry) => entry.operation),
    entries.map((entry) => entry.message),
  ];
}

const INSERT_LOGS: Statement = { name: 'insert-logs', text: insertLogEntries(1, 'true') };

/** For entries about reads, which have no change to go with; entries of many requests share one statement. */
export async function insertLogs(queryable: Queryable, entries: readonly LogEntry[]): Promise<void> {
  if (entries.length > 0) await queryable.run(INSERT_LOGS, logParameters(entries));
}

export interface LogQuery {
  tenantId: string;
  entityType?: string;
  entityId?: string;
  /** Inclusive. */
  from?: Date;
  /** Exclusive. */
  until?: Date;
  /** Entries older than this by the database's clock are not shown. */
  retentionSeconds: number;
  /** The last entry of the page before. */
  after?: { createdAt: Date; id: string };
  /** Entries that are left out after `after`; Postgres reads them all the same. */
  offset?: number;
  limit: number;
}

// Without a name: planned for the values at hand, so that partitions outside of the time asked for are left out.
const LIST_LOGS: Statement = {
  text: `
    select log_id as "id", tenant_id as "tenantId", actor_id as "actorId", actor_type as "actorType",
      entity_type as "entityType", entity_id as "entityId", operation, message, created_at as "createdAt"
    from logs
    where tenant_id = $1
      and created_at > now() - make_interval(secs => $2)
      and ($3::text is null or entity_type = $3)
      and ($4::text is null or entity_id = $4)
      and ($5::timestamptz is null or created_at >= $5)
      and ($6::timestamptz is null or created_at < $6)
      and ($7::timestamptz is null or (created_at, log_id) < ($7, $8::uuid))
    order by created_at desc, log_id desc
    limit $9 offset $10`,
};

/** Newest first. */
export async function listLogs(queryable: Queryable, query: LogQuery): Promise<LogEntry[]> {
  return queryable.run<LogEntry>(LIST_LOGS, [
    query.tenantId,
    query.retentionSeconds,
    query.entityType ?? null,
    query.entityId ?? null,
    query.from ?? null,
    query.until ?? null,
    query.after?.createdAt ?? null,
    query.after?.id ?? null,
    query.limit,
    query.offset ?? 0,
  ]);
}

const MAKE_PARTITIONS: Statement = { text: 'select make_log_partitions($1) as count' };

/** Makes the hourly partitions up to so many hours ahead; gives how many were missing. */
export function makeLogPartitions(queryable: Queryable, hoursAhead: number): Promise<number> {
  return runForCount(queryable, MAKE_PARTITIONS, [hoursAhead]);
}

// Only the owner may delete entries: its functions do, and decide themselves what no tenant's retention reaches back
// to.
const DROP_PARTITION: Statement = { text: 'select drop_expired_log_partition() as count' };

/**
 * Drops the partitions that are past the log retention of every tenant, each by itself; gives how many. Throws
 * 'unavailable' where a reader holds the log so long that others would have to wait for the drop.
 */
export async function dropLogPartitions(queryable: Queryable): Promise<number> {
  for (let dropped = 0; ; dropped++) {
    if ((await runForCount(queryable, DROP_PARTITION)) === 0) return dropped;
  }
}

const CLEAR_UNPARTITIONED: Statement = { text: 'select clear_unpartitioned_logs($1) as count' };

/** Removes at most `limit` entries past every retention from hours that have no partition; gives how many. */
export function clearUnpartitionedLogs(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, CLEAR_UNPARTITIONED, [limit]);
}
