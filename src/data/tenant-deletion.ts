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

const DELETE_LOGS: Statement = {
  text: `
    with some_logs as (select created_at, log_id from logs where tenant_id = $1 limit $2), deleted as (
      delete from logs l using some_logs s
      where l.tenant_id = $1 and l.created_at = s.created_at and l.log_id = s.log_id
      returning l.log_id
    )
    select count(*)::integer as count from deleted`,
};

const DELETE_ANSWERS: Statement = {
  text: `
    with some_answers as (select owner_id, key_hash from idempotent_answers where tenant_id = $1 limit $2), deleted as (
      delete from idempotent_answers a using some_answers s
      where a.tenant_id = $1 and a.owner_id = s.owner_id and a.key_hash = s.key_hash
      returning a.key_hash
    )
    select count(*)::integer as count from deleted`,
};

/**
 * Deletes everything of a tenant, large tables in batches; false where there was no such tenant. After a crash between
 * two batches a second call finishes the work. The counts of its tokens add up to nothing then, and go with the next
 * sweep: to remove them here would race with one that is adding them up.
 */
export async function deleteTenant(queryable: Queryable, id: string, batchSize = 5_000): Promise<boolean> {
  const deleted = await queryable.run(DELETE_TENANT, [id]);
  for (const statement of [DELETE_TOKENS, DELETE_ANSWERS, DELETE_LOGS]) {
    let count = batchSize;
    while (count === batchSize) {
      count = await runForCount(queryable, statement, [id, batchSize]);
    }
  }
  return deleted.length > 0;
}
