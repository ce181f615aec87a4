import { APPLICATION_LIMITS, type ApplicationKey } from '../domain/applications.ts';
import type { LogEntry } from '../domain/logs.ts';
import type { Database, Queryable, Statement } from './database.ts';
import { insertLogEntries, logParameters } from './logs.ts';

const COLUMNS = `
  k.tenant_id as "tenantId", k.key_id as "id", k.application_id as "applicationId", k.created_by as "createdBy",
  k.created_at as "createdAt", k.expires_at as "expiresAt"`;

const UNEXPIRED = '(k.expires_at is null or k.expires_at > now())';

/** A key to store: its digest stands for its value. */
export interface NewApplicationKey extends ApplicationKey {
  /** SHA-256, in lower-case hex. */
  digest: string;
}

const LOCK_APPLICATION: Statement = {
  name: 'lock-application',
  text: 'select from applications where tenant_id = $1 and application_id = $2 for update',
};

/** Keeps others from adding keys to an application until the transaction ends; false where there is none. */
export async function lockApplication(transaction: Queryable, tenantId: string, id: string): Promise<boolean> {
  return (await transaction.run(LOCK_APPLICATION, [tenantId, id])).length > 0;
}

const INSERT: Statement = {
  name: 'insert-application-key',
  text: `
    with created as (
      insert into application_keys
        (tenant_id, key_id, application_id, digest, declared, expires_at, created_by, created_at)
      select $1, $2, $3::uuid, decode($4, 'hex'), false, $5, $6, $7
      where (
        select count(*) from application_keys k
        where k.tenant_id = $1 and k.application_id = $3::uuid and not k.declared and ${UNEXPIRED}
      ) < $8
      returning key_id
    ), logged as (${insertLogEntries(9, 'exists (select from created)')})
    select key_id from created`,
};

type KeyInsert = 'created' | 'no-application' | 'too-many-keys';

/**
 * Stores a key within the transaction. Declared keys and expired ones do not count against the limit of an application;
 * the application's row is locked first, since a count alone would let two at once pass it.
 */
export async function insertApplicationKeyIn(
  transaction: Queryable,
  key: NewApplicationKey,
  log: LogEntry,
): Promise<KeyInsert> {
  const { tenantId, id, applicationId, digest, expiresAt, createdBy, createdAt } = key;
  if (!(await lockApplication(transaction, tenantId, applicationId))) return 'no-application';
  const created = await transaction.run(INSERT, [
    ...[tenantId, id, applicationId, digest, expiresAt, createdBy, createdAt, APPLICATION_LIMITS.keys],
    ...logParameters([log]),
  ]);
  return created.length > 0 ? 'created' : 'too-many-keys';
}

/** Stores a key, unless the application has as many as it may have. */
export async function insertApplicationKey(
  database: Database,
  key: NewApplicationKey,
  log: LogEntry,
): Promise<KeyInsert> {
  return database.transaction((transaction) => insertApplicationKeyIn(transaction, key, log));
}

const GET: Statement = {
  name: 'get-application-key',
  text: `
    select ${COLUMNS} from application_keys k
    where k.tenant_id = $1 and k.application_id = $2 and k.key_id = $3 and ${UNEXPIRED}`,
};

export async function getApplicationKey(
  queryable: Queryable,
  tenantId: string,
  applicationId: string,
  id: string,
): Promise<ApplicationKey | undefined> {
  const [key] = await queryable.run<ApplicationKey>(GET, [tenantId, applicationId, id]);
  return key;
}

const LIST: Statement = {
  name: 'list-application-keys',
  text: `
    select ${COLUMNS} from application_keys k
    where k.tenant_id = $1 and k.application_id = any ($2::uuid[]) and ${UNEXPIRED}
    order by k.created_at desc, k.key_id desc`,
};

/** The keys of several applications, newest first: an application has few, so they come all at once. */
export async function listApplicationKeys(
  queryable: Queryable,
  tenantId: string,
  applicationIds: readonly string[],
): Promise<ApplicationKey[]> {
  return queryable.run<ApplicationKey>(LIST, [tenantId, applicationIds]);
}

const DELETE: Statement = {
  name: 'delete-application-key',
  text: `
    with deleted as (
      delete from application_keys k where k.tenant_id = $1 and k.application_id = $2 and k.key_id = $3
      returning k.key_id
    ), logged as (${insertLogEntries(4, 'exists (select from deleted)')})
    select key_id from deleted`,
};

/** False where there was no such key. */
export async function deleteApplicationKey(
  queryable: Queryable,
  tenantId: string,
  applicationId: string,
  id: string,
  log: LogEntry,
): Promise<boolean> {
  return (await queryable.run(DELETE, [tenantId, applicationId, id, ...logParameters([log])])).length > 0;
}
