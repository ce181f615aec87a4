import type { Schema } from '../../route.ts';
import { instant } from '../../schemas/common.ts';

const secret: Schema = {
  type: 'string',
  description: 'A symmetric secret of Standard Webhooks: `whsec_` and 32 bytes in base64.',
};
const createdAt: Schema = { ...instant, description: 'When it was made.' };

export const webhookSecret: Schema = {
  title: 'WebhookSecret',
  type: 'object',
  required: ['secret', 'created_at', 'replaced'],
  properties: {
    secret,
    created_at: createdAt,
    replaced: {
      type: 'array',
      description: 'Those that still sign beside it.',
      items: {
        type: 'object',
        required: ['secret', 'created_at', 'expires_at'],
        properties: {
          secret,
          created_at: createdAt,
          expires_at: { ...instant, description: 'When it stops signing.' },
        },
      },
    },
  },
  examples: [
    {
      secret: 'whsec_Bp7sCzY1wTqkYl0nG3h9o5mQd2vRx8uEa6fJt4iKcZ0=',
      created_at: '2026-11-21T09:30:00.000Z',
      replaced: [],
    },
  ],
};
