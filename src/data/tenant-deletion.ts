import type { Queryable, Statement } from './database.ts';
import { runForCount } from './row-counts.ts';

// First what gives access, and the data keys, by cascade: from then on nothing of the tenant can be read or written,
// and what is left of it cannot be decrypted.
const DELETE_TENANT: Statement = { text: 'delete from tenants where tenant_id = $1 returning tenant_id' };

const DELETE_TOKENS: Statement = {
  text: `
    with some_tokens as (select token_id from tokens where tenant_id = $1 limit $2), deleted as (
      delete from tokens t using some_tokens s where t.tenant_id = $1 and t.token_id = s.token_id
      returning t.token_id
    )
    select count(*)::integer as count from deleted`,
};

// A function of the owner's, who alone may delete entries: those of a tenant that there is not any more.
const DELETE_LOGS: Statement = { text: 'select remove_logs_of_deleted_tenant($1, $2) as count' };

const DELETE_ANSWERS: Statement = {
  text: `
    with some_answers as (select owner_id, key_hash from idempotent_answers where tenant_id = $1 limit $2), deleted as (
      delete from idempotent_answers a using some_answers s
      where a.tenant_id = $1 and a.owner_id = s.owner_id and a.key_hash = s.key_hash
      returning a.key_hash
    )
    select count(*)::integer as count from deleted`,
};

const DELETE_INVOCATIONS: Statement = {
  text: `
    with some_invocations as (select invocation_id from reactor_invocations where tenant_id = $1 limit $2), deleted as (
      delete from reactor_invocations i using some_invocations s
      where i.tenant_id = $1 and i.invocation_id = s.invocation_id
      returning i.invocation_id
    )
    select count(*)::integer as count from deleted`,
};

async function deleteInBatches(queryable: Queryable, statement: Statement, id: string, size: number): Promise<void> {
  while ((await runForCount(queryable, statement, [id, size])) === size);
}

/**
 * Deletes everything of the tenant in scope, large tables in batches, and by the sweeper its log; false where there was
 * no such tenant. After a crash between two batches a second call finishes the work. The counts of its tokens add up to
 * nothing then, and go with the next sweep: to remove them here would race with one that is adding them up.
 */
export async function deleteTenant(
  { database, maintenance }: { readonly database: Queryable; readonly maintenance: Queryable },
  id: string,
  batchSize = 5_000,
): Promise<boolean> {
  const deleted = await database.run(DELETE_TENANT, [id]);
  await deleteInBatches(database, DELETE_TOKENS, id, batchSize);
  await deleteInBatches(database, DELETE_ANSWERS, id, batchSize);
  await deleteInBatches(database, DELETE_INVOCATIONS, id, batchSize);
  await deleteInBatches(maintenance, DELETE_LOGS, id, batchSize);
  return deleted.length > 0;
}
