import type { LogEntry } from '../domain/logs.ts';
import { SEALED_FORMAT } from '../domain/sealed-format.ts';
import type { Database, Queryable, Statement } from './database.ts';
import { insertLogs } from './logs.ts';
import { runForCount } from './row-counts.ts';

export interface WebhookSecretRow {
  tenantId: string;
  id: string;
  /** Sealed. */
  secret: Buffer;
  sealedFormat: number;
  createdAt: Date;
  /** Null: the current one. */
  expiresAt: Date | null;
}

export type NewWebhookSecret = Pick<WebhookSecretRow, 'tenantId' | 'id' | 'secret'>;

const LIST: Statement = {
  name: 'list-webhook-secrets',
  text: `
    select tenant_id as "tenantId", secret_id as "id", secret, sealed_format as "sealedFormat",
      created_at::timestamptz as "createdAt", expires_at::timestamptz as "expiresAt"
    from webhook_secrets
    where tenant_id = $1 and (expires_at is null or expires_at > now())
    order by expires_at desc nulls first`,
};

/** Those with which the tenant's callbacks are signed now, the current one first. */
export function listWebhookSecrets(queryable: Queryable, tenantId: string): Promise<WebhookSecretRow[]> {
  return queryable.run<WebhookSecretRow>(LIST, [tenantId]);
}

const INSERT: Statement = {
  name: 'insert-webhook-secret',
  text: `
    insert into webhook_secrets (tenant_id, secret_id, secret, sealed_format) values ($1, $2, $3, ${SEALED_FORMAT})
    on conflict (tenant_id) where expires_at is null do nothing`,
};

/** Makes it the current one where the tenant has none. */
export async function insertWebhookSecret(
  queryable: Queryable,
  { tenantId, id, secret }: NewWebhookSecret,
): Promise<void> {
  await queryable.run(INSERT, [tenantId, id, secret]);
}

// Rotations of one tenant come one after another: each is to replace the one before it.
const LOCK: Statement = {
  name: 'lock-tenant-for-rotation',
  text: 'select from tenants where tenant_id = $1 for no key update',
};

// The oldest give way: each adds a signature to every callback, whose receivers take headers of some length only.
const EXPIRE: Statement = {
  name: 'expire-webhook-secret',
  text: `
    update webhook_secrets
    set expires_at = case when expires_at is null then now() + make_interval(secs => $2) else now() end
    where tenant_id = $1 and (
      expires_at is null
      or secret_id in (
        select secret_id from webhook_secrets where tenant_id = $1 and expires_at > now()
        order by expires_at desc offset $3
      )
    )`,
};

/** That sign beside the current one. */
const MOST_REPLACED = 4;

/** Makes it the current one, beside which the one before goes on signing for `overlapSeconds`. */
export async function rotateWebhookSecret(
  database: Database,
  next: NewWebhookSecret,
  overlapSeconds: number,
  log: LogEntry,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.run(LOCK, [next.tenantId]);
    await transaction.run(EXPIRE, [next.tenantId, overlapSeconds, MOST_REPLACED - 1]);
    await insertWebhookSecret(transaction, next);
    await insertLogs(transaction, [log]);
  });
}

const SWEEP: Statement = {
  text: `
    with due as (
      select tenant_id, secret_id from webhook_secrets where expires_at <= now() order by expires_at limit $1
      for update skip locked
    ), removed as (
      delete from webhook_secrets s using due d where s.tenant_id = d.tenant_id and s.secret_id = d.secret_id
      returning s.secret_id
    )
    select count(*)::integer as count from removed`,
};

/** Removes at most `limit` that sign no more; gives how many. */
export function sweepWebhookSecrets(queryable: Queryable, limit: number): Promise<number> {
  return runForCount(queryable, SWEEP, [limit]);
}
