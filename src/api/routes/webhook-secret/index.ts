import type { WebhookSecret, WebhookSecrets } from '../../../services/webhook-secrets.ts';
import { type Route, route } from '../../route.ts';
import * as schema from './schema.ts';

const tag = 'Tenants';
const damaged = { description: 'What is stored of the secret is damaged, and was refused; rotate it.' };

function presentSecrets([current, ...replaced]: WebhookSecret[]): object {
  return {
    secret: current!.secret,
    created_at: current!.createdAt.toISOString(),
    replaced: replaced.map(({ secret, createdAt, expiresAt }) => ({
      secret,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt!.toISOString(),
    })),
  };
}

/**
 * What receivers of callbacks verify them with. Who reads it can forge callbacks, which make receivers act: as strong
 * as to change the tenant, so it takes that permission, and not the one to read it.
 */
export function webhookSecretRoutes({ secrets }: { readonly secrets: WebhookSecrets }): Route[] {
  return [
    route({
      method: 'get',
      path: '/tenants/self/webhook-secret',
      operationId: 'getWebhookSecret',
      tag,
      summary: 'Read what callbacks of the tenant are signed with',
      description: 'For receivers, which verify signatures with it. Who has it can forge callbacks.',
      permission: 'tenant:update',
      applicationType: 'management',
      responses: { 200: { description: 'The secrets.', schema: schema.webhookSecret }, 422: damaged },
      async handle({ caller }) {
        return { status: 200, body: presentSecrets(await secrets.read(caller)) };
      },
    }),
    route({
      method: 'post',
      path: '/tenants/self/webhook-secret/rotate',
      operationId: 'rotateWebhookSecret',
      tag,
      summary: 'Replace what callbacks of the tenant are signed with',
      description: 'For 24 hours the replaced secret signs beside the new one, so that receivers can change over.',
      permission: 'tenant:update',
      applicationType: 'management',
      responses: { 200: { description: 'The secrets.', schema: schema.webhookSecret } },
      async handle({ caller }) {
        return { status: 200, body: presentSecrets(await secrets.rotate(caller)) };
      },
    }),
  ];
}
