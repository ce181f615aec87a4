import type { ChainHead, ChainLink, EntryKey } from '../domain/audit-chain.ts';
import type { LogEntry } from '../domain/logs.ts';
import type { Queryable, Statement } from './database.ts';
import { sweepChains } from './log-horizon.ts';
import { runForCount } from './row-counts.ts';

// The bounds are those of the keys: with them only the partitions that can hold an entry are looked into.
const READ: Statement = {
  text: `
    select l.log_id as "id", l.tenant_id as "tenantId", l.actor_id as "actorId", l.actor_type as "actorType",
      l.entity_type as "entityType", l.entity_id as "entityId", l.operation, l.message, l.created_at as "createdAt",
      k.position::integer as "position"
    from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) with ordinality
      as k (tenant_id, created_at, log_id, position)
    join logs l using (tenant_id, created_at, log_id)
    where l.created_at between $4 and $5`,
};

/** The earliest and the latest of some times, which are not none. */
export function spanOf(times: readonly Date[]): { first: Date; last: Date } {
  let first = times[0]!;
  let last = first;
  for (const time of times) {
    if (time < first) first = time;
    if (time > last) last = time;
  }
  return { first, last };
}

/** Entries by their keys, in the order given; undefined for those that are not there. */
export async function readEntries(
  queryable: Queryable,
  keys: readonly EntryKey[],
): Promise<readonly (LogEntry | undefined)[]> {
  if (keys.length === 0) return [];
  const times = keys.map(({ createdAt }) => createdAt);
  const { first, last } = spanOf(times);
  const rows = await queryable.run<LogEntry & { position: number }>(READ, [
    keys.map(({ tenantId }) => tenantId),
    times,
    keys.map(({ id }) => id),
    first,
    last,
  ]);
  const found = new Map(rows.map(({ position, ...entry }) => [position, entry]));
  return keys.map((_, index) => found.get(index + 1));
}

/** A head as JSON holds it. */
interface JsonHead {
  writer: string;
  hour: string;
  n: number;
  hash: string;
}

function headToJson({ writer, hour, n, hash }: ChainHead): JsonHead {
  return { writer, hour: hour.toISOString(), n, hash: hash.toString('hex') };
}

function headFromJson({ writer, hour, n, hash }: JsonHead): ChainHead {
  return { writer, hour: new Date(hour), n, hash: Buffer.from(hash, 'hex') };
}

const INSERT: Statement = {
  name: 'insert-log-link',
  text: `
    insert into log_links (hour, writer, n, previous, hash, linked_at, oldest, witnessed, tenant_ids, created_ats,
      log_ids, digests, queued_ats, first_created_at, last_created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
};

/** Throws a SqlError UNIQUE_VIOLATION where the chain has another link of this number. */
export async function insertLink(queryable: Queryable, link: ChainLink): Promise<void> {
  const { hour, writer, n, previous, hash, linkedAt, oldest, witnessed, entries } = link;
  const times = entries.map(({ createdAt }) => createdAt);
  const { first, last } = spanOf(times);
  await queryable.run(INSERT, [
    ...[hour, writer, n, previous, hash, linkedAt, oldest, JSON.stringify(witnessed.map(headToJson))],
    entries.map(({ tenantId }) => tenantId),
    times,
    entries.map(({ id }) => id),
    entries.map(({ digest }) => digest),
    entries.map(({ queuedAt }) => queuedAt),
    ...[first, last],
  ]);
}

interface LinkRow extends Omit<ChainLink, 'witnessed' | 'entries'> {
  witnessed: JsonHead[];
  tenantIds: string[];
  createdAts: Date[];
  ids: string[];
  digests: Buffer[];
  queuedAts: Date[];
}

function linkOf({ witnessed, tenantIds, createdAts, ids, digests, queuedAts, ...link }: LinkRow): ChainLink {
  return {
    ...link,
    witnessed: witnessed.map(headFromJson),
    entries: ids.map((id, index) => ({
      tenantId: tenantIds[index]!,
      createdAt: createdAts[index]!,
      id,
      queuedAt: queuedAts[index]!,
      digest: digests[index]!,
    })),
  };
}

const LIST: Statement = {
  name: 'list-log-links',
  text: `
    select hour, writer, n, previous, hash, linked_at as "linkedAt", oldest, witnessed, tenant_ids as "tenantIds",
      created_ats as "createdAts", log_ids as "ids", digests, queued_ats as "queuedAts"
    from log_links where hour = $1 and writer = $2 and n > $3 order by n limit $4`,
};

/** Links of one chain after a number. */
export async function listLinks(
  queryable: Queryable,
  { writer, hour }: Pick<ChainHead, 'writer' | 'hour'>,
  { after, limit }: { after: number; limit: number },
): Promise<ChainLink[]> {
  return (await queryable.run<LinkRow>(LIST, [hour, writer, after, limit])).map(linkOf);
}

const FIND_HASH: Statement = {
  name: 'find-hash-of-log-link',
  text: 'select hash from log_links where hour = $1 and writer = $2 and n = $3',
};

/** The hash of the link in this place; undefined where there is none. */
export async function findLinkHash(
  queryable: Queryable,
  { writer, hour, n }: Omit<ChainHead, 'hash'>,
): Promise<Buffer | undefined> {
  const [row] = await queryable.run<{ hash: Buffer }>(FIND_HASH, [hour, writer, n]);
  return row?.hash;
}

const MOMENT: Statement = {
  name: 'moment-of-log-link',
  text: 'select clock_timestamp() as "now", oldest from log_horizon',
};

/** The database's time, and how far back the log is promised to reach. */
export async function linkingMoment(queryable: Queryable): Promise<{ now: Date; oldest: Date }> {
  const [moment] = await queryable.run<{ now: Date; oldest: Date }>(MOMENT);
  return moment!;
}

const SWEEP = sweepChains('log_links');

/** Removes at most `limit` links all of whose entries are past every retention; gives how many. */
export function sweepLinks(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP, [limit]);
}
