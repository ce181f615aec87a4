import type { Application, ApplicationType } from '../domain/applications.ts';
import type { LogEntry } from '../domain/logs.ts';
import type { Queryable, Statement } from './database.ts';
import { insertLogEntries, logParameters } from './logs.ts';
import { LOG_AS_WRITTEN, upsertOutcome, type UpsertOutcome } from './upserts.ts';
import { runForCount } from './row-counts.ts';

/** An application as it is stored. */
export interface ApplicationRow extends Application {
  /** Whether a resource declares it. */
  declared: boolean;
}

const COLUMNS = `
  a.tenant_id as "tenantId", a.application_id as "id", a.name, a.type, a.permissions, a.rules,
  a.expires_at as "expiresAt", a.declared, a.created_by as "createdBy", a.created_at as "createdAt",
  a.modified_by as "modifiedBy", a.modified_at as "modifiedAt"`;

// The columns that an insert sets, in the order of `columnValues`.
const INSERTED = `
  (tenant_id, application_id, name, type, permissions, rules, expires_at, declared, created_by, created_at)`;

function columnValues(application: Omit<ApplicationRow, 'modifiedBy' | 'modifiedAt'>): unknown[] {
  const { tenantId, id, name, type, permissions, rules, expiresAt, declared, createdBy, createdAt } = application;
  return [tenantId, id, name, type, permissions, JSON.stringify(rules), expiresAt, declared, createdBy, createdAt];
}

const UNEXPIRED = '(a.expires_at is null or a.expires_at > now())';

const INSERT: Statement = {
  name: 'insert-application',
  text: `
    with created as (
      insert into applications ${INSERTED} values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ), logged as (${insertLogEntries(11, 'true')})
    select 1`,
};

/** Stores a new application; its first key goes with it in a transaction. */
export async function insertApplication(
  queryable: Queryable,
  application: Omit<ApplicationRow, 'modifiedBy' | 'modifiedAt'>,
  log: LogEntry,
): Promise<void> {
  await queryable.run(INSERT, [...columnValues(application), ...logParameters([log])]);
}

const GET: Statement = {
  name: 'get-application',
  text: `select ${COLUMNS} from applications a where a.tenant_id = $1 and a.application_id = $2 and ${UNEXPIRED}`,
};

export async function getApplication(
  queryable: Queryable,
  tenantId: string,
  id: string,
): Promise<ApplicationRow | undefined> {
  const [application] = await queryable.run<ApplicationRow>(GET, [tenantId, id]);
  return application;
}

export interface ApplicationFilter {
  tenantId: string;
  /** Undefined or empty: any. */
  ids?: readonly string[];
  /** Undefined or empty: any. */
  types?: readonly ApplicationType[];
}

const IN_FILTER = `
  a.tenant_id = $1 and ${UNEXPIRED}
      and (cardinality($2::uuid[]) = 0 or a.application_id = any ($2::uuid[]))
      and (cardinality($3::text[]) = 0 or a.type = any ($3::text[]))`;

const LIST: Statement = {
  name: 'list-applications',
  text: `
    select ${COLUMNS} from applications a
    where ${IN_FILTER}
    order by a.created_at desc, a.application_id desc
    limit $4 offset $5`,
};

const COUNT: Statement = {
  name: 'count-applications',
  text: `select count(*)::integer as total from applications a where ${IN_FILTER}`,
};

/** One page, counted from 1, newest first, with the number of applications in all. */
export async function pageOfApplications(
  queryable: Queryable,
  filter: ApplicationFilter,
  { page, size }: { page: number; size: number },
): Promise<{ rows: ApplicationRow[]; total: number }> {
  const values = [filter.tenantId, filter.ids ?? [], filter.types ?? []];
  const [rows, totals] = await Promise.all([
    queryable.run<ApplicationRow>(LIST, [...values, size, (page - 1) * size]),
    queryable.run<{ total: number }>(COUNT, values),
  ]);
  return { rows, total: totals[0]!.total };
}

const REPLACE: Statement = {
  name: 'replace-application',
  text: `
    with replaced as (
      update applications a
      set name = $3, permissions = $4, rules = $5, modified_by = $6, modified_at = $7
      where a.tenant_id = $1 and a.application_id = $2 and ${UNEXPIRED}
      returning ${COLUMNS}
    ), logged as (${insertLogEntries(8, 'exists (select from replaced)')})
    select * from replaced`,
};

/** The application as it is now; undefined where it does not exist. Type, expiry and keys stay. */
export async function replaceApplication(
  queryable: Queryable,
  application: Pick<Application, 'tenantId' | 'id' | 'name' | 'permissions' | 'rules' | 'modifiedBy' | 'modifiedAt'>,
  log: LogEntry,
): Promise<ApplicationRow | undefined> {
  const { tenantId, id, name, permissions, rules, modifiedBy, modifiedAt } = application;
  const values = [tenantId, id, name, permissions, JSON.stringify(rules), modifiedBy, modifiedAt];
  const [replaced] = await queryable.run<ApplicationRow>(REPLACE, [...values, ...logParameters([log])]);
  return replaced;
}

// The keys go by cascade; what this statement reads of them is as it was before.
const DELETE: Statement = {
  name: 'delete-application',
  text: `
    with deleted as (
      delete from applications a where a.tenant_id = $1 and a.application_id = $2
      returning ${UNEXPIRED} as existed
    ), logged as (${insertLogEntries(3, 'exists (select from deleted where existed)')}
    ), keys_logged as (
      insert into logs
        (tenant_id, created_at, log_id, actor_id, actor_type, entity_type, entity_id, operation, message)
      select k.tenant_id, ($4::timestamptz[])[1], gen_random_uuid(), ($6::uuid[])[1], ($7::text[])[1],
        'application_key', k.key_id::text, 'delete', 'application key deleted'
      from application_keys k
      where k.tenant_id = $1 and k.application_id = $2 and exists (select from deleted where existed)
    )
    select from deleted where existed`,
};

/** Deletes the application and its keys, each with an entry by the actor of `log`; false where there was none. */
export async function deleteApplication(
  queryable: Queryable,
  tenantId: string,
  id: string,
  log: LogEntry,
): Promise<boolean> {
  return (await queryable.run(DELETE, [tenantId, id, ...logParameters([log])])).length > 0;
}

// An inserted row has never been locked or updated, so its xmax is 0.
const UPSERT: Statement = {
  name: 'upsert-application',
  text: `
    with written as (
      insert into applications as a ${INSERTED} values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (tenant_id, application_id) do update
      set name = excluded.name, type = excluded.type, permissions = excluded.permissions, rules = excluded.rules,
        expires_at = excluded.expires_at, declared = excluded.declared, modified_by = null,
        modified_at = excluded.created_at
      where (a.name, a.type, a.permissions, a.rules, a.expires_at, a.declared) is distinct from
        (excluded.name, excluded.type, excluded.permissions, excluded.rules, excluded.expires_at, excluded.declared)
      returning (xmax = 0) as created
    ), logged as (${insertLogEntries(11, LOG_AS_WRITTEN)})
    select created from written`,
};

/**
 * Makes the stored application what is given; an update counts as modified at `createdAt`. Of `logs`, the one for what
 * happened, create or update, is written.
 */
export async function upsertApplication(
  queryable: Queryable,
  application: Omit<ApplicationRow, 'modifiedBy' | 'modifiedAt'>,
  logs: readonly LogEntry[],
): Promise<UpsertOutcome> {
  return upsertOutcome(await queryable.run(UPSERT, [...columnValues(application), ...logParameters(logs)]));
}

const SWEEP: Statement = {
  text: `
    with removed as (
      delete from applications a where a.expires_at <= now() and not a.declared
      returning a.tenant_id, a.application_id
    ), logged as (
      insert into logs
        (tenant_id, created_at, log_id, actor_id, actor_type, entity_type, entity_id, operation, message)
      select tenant_id, now(), gen_random_uuid(), null, 'system', 'application', application_id::text, 'expire',
        'application expired'
      from removed
    )
    select count(*)::integer as count from removed`,
};

/**
 * Removes applications that have expired, by the database's clock; gives how many. Declared ones stay, without access,
 * until their declaration goes: removed, they would be declared again at once.
 */
export function sweepExpiredApplications(queryable: Queryable): Promise<number> {
  return runForCount(queryable, SWEEP);
}
