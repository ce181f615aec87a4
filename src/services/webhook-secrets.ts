import { randomUUID } from 'node:crypto';
import type { Database } from '../data/database.ts';
import {
  insertWebhookSecret,
  listWebhookSecrets,
  type NewWebhookSecret,
  rotateWebhookSecret,
  type WebhookSecretRow,
} from '../data/webhook-secrets.ts';
import type { Caller } from '../domain/caller.ts';
import { generateWebhookSecret } from '../domain/webhook-signature.ts';
import type { SealedPlace, Sealer } from '../keys/sealing.ts';
import type { Audit } from './audit.ts';
import { damaged, refusedAsDamaged } from './damage.ts';
import { actorOf, logEntry } from './log-entries.ts';

/** What signs callbacks. */
export interface WebhookSecret {
  secret: string;
  createdAt: Date;
  /** Null: the current one. */
  expiresAt: Date | null;
}

export interface WebhookSecrets {
  /** Those that sign the tenant's callbacks now, the current one first; makes one where there is none. */
  signing(tenantId: string): Promise<string[]>;
  /** The same, for whoever verifies signatures. Logged. Throws 'unprocessable' where the current one is damaged. */
  read(caller: Caller): Promise<WebhookSecret[]>;
  /** Replaces the current one, which signs beside the new one for 24 h. */
  rotate(caller: Caller): Promise<WebhookSecret[]>;
}

export interface WebhookSecretParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly audit: Audit;
}

/** How long receivers have to learn of a new secret. */
const OVERLAP_SECONDS = 24 * 3600;

// Written once, under an id of its own.
function placeOf({ tenantId, id }: Pick<WebhookSecretRow, 'tenantId' | 'id'>): SealedPlace {
  return { tenantId, table: 'webhook_secrets', rowId: id, column: 'secret', version: '1' };
}

export function createWebhookSecrets({ database, sealer, audit }: WebhookSecretParts): WebhookSecrets {
  async function newSecret(tenantId: string): Promise<NewWebhookSecret> {
    const id = randomUUID();
    return { tenantId, id, secret: await sealer.seal(placeOf({ tenantId, id }), generateWebhookSecret()) };
  }

  /** Undefined in the place of one that is damaged. */
  async function list(tenantId: string): Promise<(WebhookSecret | undefined)[]> {
    let rows = await listWebhookSecrets(database, tenantId);
    if (!rows.some(({ expiresAt }) => expiresAt === null)) {
      await insertWebhookSecret(database, await newSecret(tenantId));
      // Another process may have been first.
      rows = await listWebhookSecrets(database, tenantId);
    }
    const opened = await sealer.openMany(
      rows.map((row) => ({ place: placeOf(row), format: row.sealedFormat, sealed: row.secret })),
    );
    return rows.map(({ createdAt, expiresAt }, index) => {
      const secret = opened[index]?.toString('utf8');
      return secret === undefined ? undefined : { secret, createdAt, expiresAt };
    });
  }

  async function listWhole(caller: Caller, message: string): Promise<WebhookSecret[]> {
    const entry = { ...logEntry(actorOf(caller), 'read', 'tenant', caller.tenantId), message };
    const secrets = await list(caller.tenantId);
    const isWhole = secrets[0] !== undefined;
    await audit.record([isWhole ? entry : refusedAsDamaged(entry)]);
    if (!isWhole) throw damaged('the webhook secret');
    // One that is replaced signs no more where it is damaged.
    return secrets.filter((secret) => secret !== undefined);
  }

  return {
    async signing(tenantId) {
      return (await list(tenantId)).flatMap((found) => (found === undefined ? [] : [found.secret]));
    },
    read: (caller) => listWhole(caller, 'webhook secret read'),
    async rotate(caller) {
      const entry = logEntry(actorOf(caller), 'update', 'tenant', caller.tenantId);
      const log = { ...entry, message: 'webhook secret rotated' };
      await rotateWebhookSecret(database, await newSecret(caller.tenantId), OVERLAP_SECONDS, log);
      return listWhole(caller, 'webhook secret read');
    },
  };
}
