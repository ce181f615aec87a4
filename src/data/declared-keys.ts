import type { DeclaredKey } from '../domain/declarations.ts';
import type { LogEntry } from '../domain/logs.ts';
import type { Queryable, Statement } from './database.ts';
import { insertLogs } from './logs.ts';

const REVOKE: Statement = {
  name: 'revoke-declared-keys',
  text: `
    delete from application_keys
    where tenant_id = $1 and application_id = $2 and declared and key_id <> all ($3::uuid[])
    returning key_id as "id"`,
};

// A key of which only the expiry moved is kept: that is how an overlap ends while the old key is still in use.
const PUT: Statement = {
  name: 'put-declared-keys',
  text: `
    insert into application_keys as k
      (tenant_id, key_id, application_id, digest, declared, expires_at, created_by, created_at)
    select $1, d.key_id, $2::uuid, decode(d.digest, 'hex'), true, d.expires_at, null, $6
    from unnest($3::uuid[], $4::text[], $5::timestamptz[]) as d (key_id, digest, expires_at)
    on conflict (tenant_id, key_id) do update
    set digest = excluded.digest, expires_at = excluded.expires_at, declared = true
    where (k.digest, k.expires_at, k.declared) is distinct from (excluded.digest, excluded.expires_at, true)
    returning key_id as "id", (xmax = 0) as created`,
};

export interface DeclaredKeyChanges {
  created: string[];
  updated: string[];
  revoked: string[];
}

/**
 * Makes the declared keys of an application exactly those given; keys made through the API stay. `logOf` makes the
 * entry for each change. Throws a SqlError (23505, application_keys_digest) where another application has the same key.
 */
export async function setDeclaredKeys(
  transaction: Queryable,
  application: { tenantId: string; id: string },
  keys: readonly DeclaredKey[],
  logOf: (operation: 'create' | 'update' | 'delete', keyId: string) => LogEntry,
  now: Date,
): Promise<DeclaredKeyChanges> {
  const ids = keys.map((key) => key.id);
  const owner = [application.tenantId, application.id];
  const revoked = await transaction.run<{ id: string }>(REVOKE, [...owner, ids]);
  const written = await transaction.run<{ id: string; created: boolean }>(PUT, [
    ...owner,
    ids,
    keys.map((key) => key.digest),
    keys.map((key) => key.expiresAt ?? null),
    now,
  ]);
  const changes: DeclaredKeyChanges = {
    created: written.filter((row) => row.created).map((row) => row.id),
    updated: written.filter((row) => !row.created).map((row) => row.id),
    revoked: revoked.map((row) => row.id),
  };
  await insertLogs(transaction, [
    ...changes.created.map((id) => logOf('create', id)),
    ...changes.updated.map((id) => logOf('update', id)),
    ...changes.revoked.map((id) => logOf('delete', id)),
  ]);
  return changes;
}
