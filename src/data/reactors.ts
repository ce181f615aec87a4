import type { ReactorScaling } from '../domain/declarations.ts';
import type { EgressPolicy } from '../domain/egress.ts';
import type { LogEntry } from '../domain/logs.ts';
import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { Queryable, Statement } from './database.ts';
import { insertLogEntries, logParameters } from './logs.ts';
import { LOG_AS_WRITTEN, upsertOutcome, type UpsertOutcome } from './upserts.ts';

/** A reactor as it is stored. */
export interface ReactorRow {
  tenantId: string;
  id: string;
  name: string;
  /** Sealed. */
  code: Buffer;
  /** Sealed. */
  configuration: Buffer;
  /** Of both. */
  sealedFormat: number;
  applicationId: string | null;
  timeoutSeconds: number;
  scaling: ReactorScaling;
  memoryBytes: number;
  /** Null: to every public address. */
  egress: EgressPolicy | null;
  /** Changes whenever what an instance is started with does. */
  revision: string;
  /** Whether a resource declares it. */
  declared: boolean;
  createdBy: string | null;
  createdAt: Date;
  modifiedBy: string | null;
  modifiedAt: Date | null;
}

export type NewReactor = Omit<ReactorRow, 'sealedFormat' | 'modifiedBy' | 'modifiedAt'>;

const COLUMNS = `
  r.tenant_id as "tenantId", r.reactor_id as "id", r.name, r.code, r.configuration,
  r.sealed_format as "sealedFormat",
  r.application_id as "applicationId", r.timeout_seconds as "timeoutSeconds", r.scaling,
  r.memory_bytes::float8 as "memoryBytes", r.egress, r.revision, r.declared, r.created_by as "createdBy",
  r.created_at as "createdAt", r.modified_by as "modifiedBy", r.modified_at as "modifiedAt"`;

// The columns that an insert sets, in the order of `columnValues`.
const INSERTED = `
  (tenant_id, reactor_id, name, code, configuration, application_id, timeout_seconds, scaling, memory_bytes, revision,
    declared, created_by, created_at, egress, sealed_format)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, ${SEALED_FORMAT})`;

function columnValues(reactor: NewReactor): unknown[] {
  return [
    reactor.tenantId,
    reactor.id,
    reactor.name,
    reactor.code,
    reactor.configuration,
    reactor.applicationId,
    reactor.timeoutSeconds,
    JSON.stringify(reactor.scaling),
    reactor.memoryBytes,
    reactor.revision,
    reactor.declared,
    reactor.createdBy,
    reactor.createdAt,
    reactor.egress === null ? null : JSON.stringify(reactor.egress),
  ];
}

const INSERT: Statement = {
  name: 'insert-reactor',
  text: `
    with created as (insert into reactors ${INSERTED}), logged as (${insertLogEntries(15, 'true')})
    select 1`,
};

export async function insertReactor(queryable: Queryable, reactor: NewReactor, log: LogEntry): Promise<void> {
  await queryable.run(INSERT, [...columnValues(reactor), ...logParameters([log])]);
}

const GET: Statement = {
  name: 'get-reactor',
  text: `select ${COLUMNS} from reactors r where r.tenant_id = $1 and r.reactor_id = $2`,
};

export async function getReactor(queryable: Queryable, tenantId: string, id: string): Promise<ReactorRow | undefined> {
  const [reactor] = await queryable.run<ReactorRow>(GET, [tenantId, id]);
  return reactor;
}

const LIST_ALL: Statement = { text: `select ${COLUMNS} from reactors r order by r.tenant_id, r.reactor_id` };

/** The reactors of every tenant, for running them. */
export async function listAllReactors(queryable: Queryable): Promise<ReactorRow[]> {
  return queryable.run<ReactorRow>(LIST_ALL);
}

export interface ReactorFilter {
  tenantId: string;
  /** Undefined or empty: any. */
  ids?: readonly string[];
  /** Matched without regard to case; `*` stands for any text. */
  name?: string;
}

const IN_FILTER = `
  r.tenant_id = $1
      and (cardinality($2::uuid[]) = 0 or r.reactor_id = any ($2::uuid[]))
      and ($3::text is null or r.name ilike $3 escape '\\')`;

const LIST: Statement = {
  name: 'list-reactors',
  text: `
    select ${COLUMNS} from reactors r
    where ${IN_FILTER}
    order by r.created_at desc, r.reactor_id desc
    limit $4 offset $5`,
};

const COUNT: Statement = {
  name: 'count-reactors',
  text: `select count(*)::integer as total from reactors r where ${IN_FILTER}`,
};

/** One page, counted from 1, newest first, with the number of reactors in all. */
export async function pageOfReactors(
  queryable: Queryable,
  filter: ReactorFilter,
  { page, size }: { page: number; size: number },
): Promise<{ rows: ReactorRow[]; total: number }> {
  const pattern = filter.name?.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');
  const values = [filter.tenantId, filter.ids ?? [], pattern ?? null];
  const [rows, totals] = await Promise.all([
    queryable.run<ReactorRow>(LIST, [...values, size, (page - 1) * size]),
    queryable.run<{ total: number }>(COUNT, values),
  ]);
  return { rows, total: totals[0]!.total };
}

/** What replacing a reactor sets. */
export type ReactorReplacement = Pick<
  ReactorRow,
  'tenantId' | 'id' | 'name' | 'code' | 'configuration' | 'applicationId' | 'revision' | 'modifiedBy' | 'modifiedAt'
>;

const REPLACE: Statement = {
  name: 'replace-reactor',
  text: `
    with replaced as (
      update reactors r
      set name = $3, code = $4, configuration = $5, application_id = $6, revision = $7, modified_by = $8,
        modified_at = $9, sealed_format = ${SEALED_FORMAT}
      where r.tenant_id = $1 and r.reactor_id = $2
        and ($10::text is null or (r.revision = $10 and r.modified_at is not distinct from $11))
      returning ${COLUMNS}
    ), logged as (${insertLogEntries(12, 'exists (select from replaced)')})
    select * from replaced`,
};

/**
 * The reactor as it is now; undefined where it does not exist, or is no longer as `basedOn`, from which a partial
 * change was computed. The revision covers what an instance is started with, the time of modification the rest.
 */
export async function replaceReactor(
  queryable: Queryable,
  reactor: ReactorReplacement,
  log: LogEntry,
  basedOn?: Pick<ReactorRow, 'revision' | 'modifiedAt'>,
): Promise<ReactorRow | undefined> {
  const { tenantId, id, name, code, configuration, applicationId, revision, modifiedBy, modifiedAt } = reactor;
  const values = [tenantId, id, name, code, configuration, applicationId, revision, modifiedBy, modifiedAt];
  const [replaced] = await queryable.run<ReactorRow>(REPLACE, [
    ...values,
    basedOn?.revision ?? null,
    basedOn?.modifiedAt ?? null,
    ...logParameters([log]),
  ]);
  return replaced;
}

const DELETE: Statement = {
  name: 'delete-reactor',
  text: `
    with deleted as (
      delete from reactors r where r.tenant_id = $1 and r.reactor_id = $2 returning r.reactor_id
    ), logged as (${insertLogEntries(3, 'exists (select from deleted)')})
    select reactor_id from deleted`,
};

/** False where there was no such reactor. */
export async function deleteReactor(
  queryable: Queryable,
  tenantId: string,
  id: string,
  log: LogEntry,
): Promise<boolean> {
  return (await queryable.run(DELETE, [tenantId, id, ...logParameters([log])])).length > 0;
}

// Sealing the same text twice gives different bytes, so code and configuration are compared by the revision.
const UPSERT: Statement = {
  name: 'upsert-reactor',
  text: `
    with written as (
      insert into reactors as r ${INSERTED}
      on conflict (tenant_id, reactor_id) do update
      set name = excluded.name, code = excluded.code, configuration = excluded.configuration,
        application_id = excluded.application_id, timeout_seconds = excluded.timeout_seconds,
        scaling = excluded.scaling, memory_bytes = excluded.memory_bytes, revision = excluded.revision,
        declared = excluded.declared, egress = excluded.egress, modified_by = null, modified_at = excluded.created_at,
        sealed_format = excluded.sealed_format
      where (r.name, r.application_id, r.timeout_seconds, r.scaling, r.memory_bytes, r.revision, r.declared, r.egress)
        is distinct from (excluded.name, excluded.application_id, excluded.timeout_seconds, excluded.scaling,
          excluded.memory_bytes, excluded.revision, excluded.declared, excluded.egress)
      returning (xmax = 0) as created
    ), logged as (${insertLogEntries(15, LOG_AS_WRITTEN)})
    select created from written`,
};

/**
 * Makes the stored reactor what is given; an update counts as modified at `createdAt`. Of `logs`, the one for what
 * happened, create or update, is written. The revision must be a function of code and configuration.
 */
export async function upsertReactor(
  queryable: Queryable,
  reactor: NewReactor,
  logs: readonly LogEntry[],
): Promise<UpsertOutcome> {
  return upsertOutcome(await queryable.run(UPSERT, [...columnValues(reactor), ...logParameters(logs)]));
}
