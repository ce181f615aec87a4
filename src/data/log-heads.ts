import type { ChainHead, SealedHead } from '../domain/audit-chain.ts';
import type { Queryable, Statement } from './database.ts';
import { sweepChains } from './log-horizon.ts';
import { runForCount } from './row-counts.ts';

const INSERT: Statement = {
  name: 'insert-log-head',
  text: `
    insert into log_heads (hour, writer, n, hash, sealed_by, anchored_at, mac) values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (hour, writer, n) do nothing`,
};

/** Stores a sealed head, unless it has been sealed already. */
export async function insertHead(queryable: Queryable, head: SealedHead): Promise<void> {
  const { hour, writer, n, hash, sealedBy, anchoredAt, mac } = head;
  await queryable.run(INSERT, [hour, writer, n, hash, sealedBy, anchoredAt, mac]);
}

const COLUMNS = 'hour, writer, n, hash, sealed_by as "sealedBy", anchored_at as "anchoredAt", mac';

const LIST: Statement = {
  name: 'list-log-heads',
  text: `select ${COLUMNS} from log_heads where hour = $1 order by writer, n`,
};

/** The sealed heads of the chains of one hour: one a minute and chain. */
export function listHeads(queryable: Queryable, hour: Date): Promise<SealedHead[]> {
  return queryable.run<SealedHead>(LIST, [hour]);
}

const NEWEST: Statement = {
  name: 'newest-log-heads',
  text: `
    select distinct on (writer) ${COLUMNS}
    from log_heads
    where writer <> $1
      and anchored_at >= (select max(anchored_at) from log_heads where writer <> $1) - interval '1 hour'
    order by writer, hour desc, n desc`,
};

/** The newest sealed head of each other writer that has had one sealed in the last hour in which any has. */
export function newestHeadsOfOthers(queryable: Queryable, writer: string): Promise<SealedHead[]> {
  return queryable.run<SealedHead>(NEWEST, [writer]);
}

const ABANDONED: Statement = {
  name: 'abandoned-log-heads',
  text: `
    with recursive chains as (
      (select hour, writer from log_links order by hour, writer limit 1)
      union all
      select next.hour, next.writer
      from chains c cross join lateral (
        select l.hour, l.writer from log_links l where (l.hour, l.writer) > (c.hour, c.writer)
        order by l.hour, l.writer limit 1
      ) next
    )
    select last.hour, last.writer, last.n, last.hash
    from chains c cross join lateral (
      select l.hour, l.writer, l.n, l.hash, l.linked_at from log_links l
      where l.hour = c.hour and l.writer = c.writer order by l.n desc limit 1
    ) last
    where c.writer <> $1 and last.linked_at < clock_timestamp() - make_interval(secs => $2)
      and not exists (
        select from log_heads h where h.hour = last.hour and h.writer = last.writer and h.n = last.n
      )`,
};

/**
 * Ends of others' chains that are older than `seconds` and not sealed: their writers ended before they could, or their
 * heads were removed since.
 */
export function abandonedHeads(queryable: Queryable, writer: string, seconds: number): Promise<ChainHead[]> {
  return queryable.run<ChainHead>(ABANDONED, [writer, seconds]);
}

const SWEEP = sweepChains('log_heads');

/** Removes at most `limit` heads of chains all of whose entries are past every retention; gives how many. */
export function sweepHeads(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP, [limit]);
}
