import type { LogEntry } from '../domain/logs.ts';
import type { Tenant } from '../domain/tenants.ts';
import type { Database, Queryable, Statement } from './database.ts';
import { insertLogEntries, logParameters } from './logs.ts';
import { LOG_AS_WRITTEN, upsertOutcome, type UpsertOutcome } from './upserts.ts';

/** A tenant as it is stored. */
export interface TenantRow extends Tenant {
  /** Whether a resource declares it. */
  declared: boolean;
}

const COLUMNS = 'tenant_id as "id", name, type, quotas, settings, declared';

const GET: Statement = { name: 'get-tenant', text: `select ${COLUMNS} from tenants where tenant_id = $1` };

export async function getTenant(queryable: Queryable, id: string): Promise<TenantRow | undefined> {
  const [tenant] = await queryable.run<TenantRow>(GET, [id]);
  return tenant;
}

// Name and settings are the tenant's own as long as no resource has declared them. An inserted row has never been
// locked or updated, so its xmax is 0.
const UPSERT: Statement = {
  name: 'upsert-tenant',
  text: `
    with written as (
      insert into tenants as t (tenant_id, name, type, quotas, settings, declared) values ($1, $2, $3, $4, $5, $6)
      on conflict (tenant_id) do update
      set name = case when t.declared or excluded.declared then excluded.name else t.name end,
        settings = case when t.declared or excluded.declared then excluded.settings else t.settings end,
        type = excluded.type, quotas = excluded.quotas, declared = excluded.declared
      where (t.type, t.quotas, t.declared) is distinct from (excluded.type, excluded.quotas, excluded.declared)
        or (t.declared and (t.name, t.settings) is distinct from (excluded.name, excluded.settings))
      returning (xmax = 0) as created
    ), logged as (${insertLogEntries(7, LOG_AS_WRITTEN)})
    select created from written`,
};

/**
 * Makes the stored tenant what is given; of one that no resource declares, now as before, name and settings stay. Of
 * `logs`, the one for what happened, create or update, is written.
 */
export async function upsertTenant(
  queryable: Queryable,
  tenant: TenantRow,
  logs: readonly LogEntry[],
): Promise<UpsertOutcome> {
  const { id, name, type, quotas, settings, declared } = tenant;
  const values = [id, name, type, JSON.stringify(quotas), JSON.stringify(settings), declared];
  return upsertOutcome(await queryable.run(UPSERT, [...values, ...logParameters(logs)]));
}

const LOCK: Statement = { name: 'lock-tenant', text: `${GET.text} for no key update` };

const CHANGE: Statement = {
  name: 'change-tenant',
  text: `
    with changed as (
      update tenants set name = $2, settings = $3 where tenant_id = $1
    ), logged as (${insertLogEntries(4, 'true')})
    select 1`,
};

/**
 * Gives a tenant the name and the settings that `change` makes of it as it is; no other change comes in between. The
 * tenant as it is then; undefined where there is none. What `change` throws leaves it as it was.
 */
export async function changeTenant(
  database: Database,
  id: string,
  change: (tenant: TenantRow) => Pick<Tenant, 'name' | 'settings'>,
  log: LogEntry,
): Promise<TenantRow | undefined> {
  return database.transaction(async (transaction) => {
    const [tenant] = await transaction.run<TenantRow>(LOCK, [id]);
    if (tenant === undefined) return undefined;
    const { name, settings } = change(tenant);
    await transaction.run(CHANGE, [id, name, JSON.stringify(settings), ...logParameters([log])]);
    return { ...tenant, name, settings };
  });
}
