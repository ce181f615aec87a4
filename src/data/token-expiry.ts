import type { Queryable, Statement } from './database.ts';
import { runForCount } from './row-counts.ts';

// The entity under which a token is logged, as `logEntityOfToken` has it.
const ENTITY = `case when type in ('card', 'bank') then type else 'token' end`;

/** Removes the tokens that `due` selects, each with an 'expire' entry. Codes and hashes go with them by cascade. */
function removeDue(due: string): string {
  return `
    with due as (${due}), removed as (
      delete from tokens t using due d where t.tenant_id = d.tenant_id and t.token_id = d.token_id
      returning t.tenant_id, t.token_id, t.type
    ), logged as (
      insert into logs
        (tenant_id, created_at, log_id, actor_id, actor_type, entity_type, entity_id, operation, message)
      select tenant_id, now(), gen_random_uuid(), null, 'system', ${ENTITY}, token_id, 'expire', ${ENTITY} || ' expired'
      from removed
    )`;
}

// Rows that another sweep has locked are its own.
const SWEEP: Statement = {
  text: `
    ${removeDue(`
      select tenant_id, token_id from tokens where expires_at <= now() order by expires_at limit $1
      for update skip locked`)}
    select count(*)::integer as count from removed`,
};

const REMOVE_EXPIRED: Statement = {
  name: 'remove-expired-tokens',
  text: `
    ${removeDue(`
      select t.tenant_id, t.token_id
      from unnest($1::uuid[], $2::text[]) as wanted (tenant_id, token_id)
      join tokens t using (tenant_id, token_id)
      where t.expires_at <= now()
      order by t.tenant_id, t.token_id
      for update of t`)}
    select tenant_id as "tenantId", token_id as "id" from removed`,
};

/** Removes those of the tokens that have expired, before a sweep would, so that their ids are free; gives them. */
export async function removeExpiredTokens<Token extends { tenantId: string; id: string }>(
  queryable: Queryable,
  tokens: readonly Token[],
): Promise<Token[]> {
  const removed = await queryable.run<{ tenantId: string; id: string }>(REMOVE_EXPIRED, [
    tokens.map((token) => token.tenantId),
    tokens.map((token) => token.id),
  ]);
  return tokens.filter(({ tenantId, id }) => removed.some((row) => row.tenantId === tenantId && row.id === id));
}

/** Removes at most `limit` expired tokens, by the database's clock; gives how many. */
export function sweepExpiredTokens(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP, [limit]);
}

const CLEAR_CVCS: Statement = {
  text: `
    with due as (
      select tenant_id, token_id from token_cvcs where expires_at <= now() order by expires_at limit $1
      for update skip locked
    ), removed as (
      delete from token_cvcs c using due d where c.tenant_id = d.tenant_id and c.token_id = d.token_id
      returning c.token_id
    )
    select count(*)::integer as count from removed`,
};

/** Removes at most `limit` card verification codes that are past their retention; gives how many. */
export function clearExpiredCvcs(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, CLEAR_CVCS, [limit]);
}

// Hops from tenant to tenant on the primary key, so that no sweep reads every token. Which tenants are gone is settled
// first: tokens of others are not to be locked.
const SWEEP_ORPHANS: Statement = {
  text: `
    with recursive owners as (
      (select tenant_id from tokens order by tenant_id limit 1)
      union all
      select (select t.tenant_id from tokens t where t.tenant_id > o.tenant_id order by t.tenant_id limit 1)
      from owners o where o.tenant_id is not null
    ), gone as materialized (
      select o.tenant_id from owners o
      where o.tenant_id is not null and not exists (select from tenants where tenant_id = o.tenant_id)
    ), orphans as (
      select t.tenant_id, t.token_id
      from gone g cross join lateral (
        select tenant_id, token_id from tokens where tenant_id = g.tenant_id limit $1 for update skip locked
      ) t
      limit $1
    ), removed as (
      delete from tokens t using orphans o where t.tenant_id = o.tenant_id and t.token_id = o.token_id
      returning t.token_id
    )
    select count(*)::integer as count from removed`,
};

/**
 * Removes at most `limit` tokens whose tenant is gone, which a crash or a request in flight may have left behind; their
 * keys are gone too. Gives how many.
 */
export function sweepOrphanedTokens(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP_ORPHANS, [limit]);
}
