import type { LogEntry } from '../domain/logs.ts';
import {
  deleteApplicationKey,
  insertApplicationKeyIn,
  lockApplication,
  type NewApplicationKey,
} from './application-keys.ts';
import type { Queryable, Statement } from './database.ts';

const LIST: Statement = {
  name: 'list-keys-to-replace',
  text: `
    select k.key_id as "id", k.declared from application_keys k
    where k.tenant_id = $1 and k.application_id = $2 and (k.expires_at is null or k.expires_at > now())`,
};

export type KeyReplacement = 'replaced' | 'no-application' | 'not-one-key' | 'declared';

/**
 * Within the transaction, deletes the only key of an application and stores `key` in its place; does neither where the
 * application has another number of keys, or where a resource declares the one that it has.
 */
export async function replaceOnlyKey(
  transaction: Queryable,
  key: NewApplicationKey,
  { logDeletion, logCreation }: { logDeletion: (keyId: string) => LogEntry; logCreation: LogEntry },
): Promise<KeyReplacement> {
  const { tenantId, applicationId } = key;
  // First, so that of two replacements at once the second one sees the key of the first.
  if (!(await lockApplication(transaction, tenantId, applicationId))) return 'no-application';
  const [only, ...others] = await transaction.run<{ id: string; declared: boolean }>(LIST, [tenantId, applicationId]);
  if (only === undefined || others.length > 0) return 'not-one-key';
  if (only.declared) return 'declared';
  const deleted = await deleteApplicationKey(transaction, tenantId, applicationId, only.id, logDeletion(only.id));
  if (!deleted) return 'not-one-key';
  await insertApplicationKeyIn(transaction, key, logCreation);
  return 'replaced';
}
