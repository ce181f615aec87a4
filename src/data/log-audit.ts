import type { ChainHead, EntryKey } from '../domain/audit-chain.ts';
import type { Queryable, Statement } from './database.ts';

/** What is asked of the log and its links when they are verified. */

// Hops from writer to writer on the primary key.
const WRITERS: Statement = {
  name: 'writers-of-log-links',
  text: `
    with recursive chains as (
      (select writer from log_links where hour = $1 order by writer limit 1)
      union all
      select (select l.writer from log_links l where l.hour = $1 and l.writer > c.writer order by l.writer limit 1)
      from chains c where c.writer is not null
    )
    select writer from chains where writer is not null`,
};

/** Who has a chain in this hour. */
export async function writersOf(queryable: Queryable, hour: Date): Promise<string[]> {
  return (await queryable.run<{ writer: string }>(WRITERS, [hour])).map(({ writer }) => writer);
}

// One statement, so one snapshot: an entry is in the queue or in a link, and moves from one to the other meanwhile.
const FIRST_UNLINKED: Statement = {
  text: `
    with linked as materialized (
      select unnest(tenant_ids) as tenant_id, unnest(created_ats) as created_at, unnest(log_ids) as log_id
      from log_links
      where tstzrange(first_created_at, last_created_at, '[]') && tstzrange($1::timestamptz, $2::timestamptz)
      union all
      select unnest(tenant_ids), unnest(created_ats), unnest(log_ids) from log_unlinked
    )
    select l.tenant_id as "tenantId", l.created_at as "createdAt", l.log_id as "id"
    from logs l
    where l.created_at >= $1 and l.created_at < $2
      and not exists (
        select from linked k
        where k.tenant_id = l.tenant_id and k.created_at = l.created_at and k.log_id = l.log_id
      )
    order by l.created_at, l.log_id
    limit 1`,
};

/** The first entry of this time that no link holds and that does not wait for one. */
export async function firstUnlinked(
  queryable: Queryable,
  { from, until }: { from: Date; until: Date },
): Promise<EntryKey | undefined> {
  const [entry] = await queryable.run<EntryKey>(FIRST_UNLINKED, [from, until]);
  return entry;
}

const FIRST_AHEAD: Statement = {
  text: `
    select hour, writer, n from log_links
    where hour > clock_timestamp() + make_interval(secs => $1::float8 / 1000)
    order by hour, writer, n limit 1`,
};

/** The first link of an hour that begins more than `ms` from now. */
export async function firstLinkAhead(queryable: Queryable, ms: number): Promise<Omit<ChainHead, 'hash'> | undefined> {
  const [link] = await queryable.run<Omit<ChainHead, 'hash'>>(FIRST_AHEAD, [ms]);
  return link;
}

const FIND_BY_ID: Statement = {
  text: `
    select tenant_id as "tenantId", created_at as "createdAt", log_id as "id" from logs
    where log_id = $1 order by created_at limit 1`,
};

/** Where an entry stands now that is not where it was linked. Reads the whole log. */
export async function findEntryById(queryable: Queryable, id: string): Promise<EntryKey | undefined> {
  const [entry] = await queryable.run<EntryKey>(FIND_BY_ID, [id]);
  return entry;
}
