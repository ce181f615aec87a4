import type { Queryable, Statement } from './database.ts';
import { runForCount } from './row-counts.ts';

// What no tenant's retention reaches back to, and what it will not reach back to within a minute.
const OLDEST = `
  now() + interval '1 minute' - make_interval(secs => (
    select coalesce(max((quotas ->> 'logRetentionSeconds')::float8), 0) from tenants
  ))`;

// A retention that is made longer does not bring back what was dropped under a shorter one.
const RAISE: Statement = {
  text: `
    with raised as (update log_horizon set oldest = ${OLDEST} where oldest < ${OLDEST} returning oldest)
    select count(*)::integer as count from raised`,
};

/**
 * Takes back the promise to hold entries that are past the retention of every tenant now or within a minute. To be done
 * before any of them is dropped. Gives 1 where the horizon moved.
 */
export function raiseLogHorizon(queryable: Queryable): Promise<number> {
  return runForCount(queryable, RAISE);
}

// By the newest links, in which nobody can change it unnoticed; before there is any, by what is to be linked.
const HORIZON: Statement = {
  text: `
    select greatest(
      ${OLDEST},
      coalesce(
        (select max(oldest) from log_links where hour = (select max(hour) from log_links)),
        (select oldest from log_horizon)
      )
    ) as "horizon"`,
};

/** Since when the log is promised to be whole. */
export async function logHorizon(queryable: Queryable): Promise<Date> {
  const [row] = await queryable.run<{ horizon: Date }>(HORIZON);
  return row!.horizon;
}

/**
 * Removes at most as many rows as its parameter says from a table of chains, all of whose entries are past every
 * retention; gives `count`. Links of the hour in which the log is promised to begin may hold late entries of the hour
 * before.
 */
export function sweepChains(table: 'log_links' | 'log_heads'): Statement {
  const text = `
    with due as (
      select hour, writer, n from ${table}
      where hour < (select date_trunc('hour', oldest, 'UTC') - interval '1 hour' from log_horizon)
      order by hour, writer, n limit $1 for update skip locked
    ), removed as (
      delete from ${table} t using due d where t.hour = d.hour and t.writer = d.writer and t.n = d.n
      returning t.n
    )
    select count(*)::integer as count from removed`;
  return { text };
}

const REMOVED: Statement = {
  name: 'log-of-tenant-removed-at',
  text: 'select removed_at as "removedAt" from log_removed_tenants where tenant_id = $1',
};

/** Until when what a tenant has logged was removed, by the database's clock; undefined where nothing was. */
export async function logRemovedAt(queryable: Queryable, tenantId: string): Promise<Date | undefined> {
  const [row] = await queryable.run<{ removedAt: Date }>(REMOVED, [tenantId]);
  return row?.removedAt;
}

const SWEEP: Statement = {
  text: `
    with removed as (
      delete from log_removed_tenants where removed_at < (select oldest from log_horizon) returning tenant_id
    )
    select count(*)::integer as count from removed`,
};

/** Forgets the deleted tenants of whose entries none is promised any more; gives how many. */
export function sweepRemovedTenants(queryable: Queryable): Promise<number> {
  return runForCount(queryable, SWEEP);
}
