import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret: `whsec_` and 256 random bits in base64, as Standard Webhooks 1.0.0 writes symmetric ones. */
export function generateWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export interface WebhookMessage {
  /** The same in every attempt. */
  readonly id: string;
  /** Of this attempt, in ms since the epoch. */
  readonly sentAt: number;
  readonly body: string;
}

function signature(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

/** The headers of Standard Webhooks 1.0.0, with one signature for each secret that is good now. */
export function webhookHeaders({ id, sentAt, body }: WebhookMessage, secrets: readonly string[]) {
  const timestamp = String(Math.floor(sentAt / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signature(secret, signed)).join(' '),
  };
}
