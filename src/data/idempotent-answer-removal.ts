import type { Queryable, Statement } from './database.ts';
import { runForCount } from './row-counts.ts';

// What each statement below ends in. By place in the table: joined by key, a large one would be read whole for each
// batch. A row that is changed at that moment stays, for the next sweep.
const REMOVE_DUE = `
    removed as (
      delete from idempotent_answers where ctid = any (array(select ctid from due)) returning claim
    )
    select count(*)::integer as count from removed`;

const SWEEP_EXPIRED: Statement = {
  text: `
    with due as (
      select ctid from idempotent_answers where expires_at <= now() order by expires_at limit $1
      for update skip locked
    ), ${REMOVE_DUE}`,
};

/** Removes at most `limit` rows that are past their time; gives how many. */
export function sweepExpiredAnswers(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP_EXPIRED, [limit]);
}

const REMOVE_OF_APPLICATION: Statement = {
  text: `
    with due as (
      select ctid from idempotent_answers where tenant_id = $1 and application_id = $2 limit $3
      for update skip locked
    ), ${REMOVE_DUE}`,
};

/** Removes at most `limit` rows of an application and its sessions; gives how many. */
export async function removeAnswersOf(
  queryable: Queryable,
  { tenantId, applicationId }: { tenantId: string; applicationId: string },
  limit: number,
): Promise<number> {
  return runForCount(queryable, REMOVE_OF_APPLICATION, [tenantId, applicationId, limit]);
}

// Hops from application to application on their index, so that no sweep reads every answer. Which applications are gone
// is settled first: answers of others are not to be locked.
const SWEEP_ORPHANS: Statement = {
  text: `
    with recursive owners as (
      (
        select tenant_id, application_id from idempotent_answers where application_id is not null
        order by tenant_id, application_id limit 1
      )
      union all
      select n.tenant_id, n.application_id
      from owners o cross join lateral (
        select a.tenant_id, a.application_id from idempotent_answers a
        where a.application_id is not null and (a.tenant_id, a.application_id) > (o.tenant_id, o.application_id)
        order by a.tenant_id, a.application_id limit 1
      ) n
    ), gone as materialized (
      select o.tenant_id, o.application_id from owners o
      where not exists (
        select from applications where tenant_id = o.tenant_id and application_id = o.application_id
      )
    ), due as (
      select a.ctid
      from gone g cross join lateral (
        select ctid from idempotent_answers
        where tenant_id = g.tenant_id and application_id = g.application_id limit $1 for update skip locked
      ) a
      limit $1
    ), ${REMOVE_DUE}`,
};

/**
 * Removes at most `limit` rows whose application is gone: one that has expired, or one whose deletion left them behind,
 * because there were many, by a crash, or for a request that was in flight. Gives how many.
 */
export function sweepOrphanedAnswers(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP_ORPHANS, [limit]);
}
