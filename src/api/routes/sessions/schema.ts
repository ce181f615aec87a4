import type { Schema } from '../../route.ts';
import { accessRules, permissions } from '../applications/schema.ts';
import { instant } from '../../schemas/common.ts';

export const createdSession: Schema = {
  title: 'Session',
  type: 'object',
  required: ['session_key', 'nonce', 'expires_at'],
  properties: {
    session_key: { type: 'string', description: 'The key of the session. It is shown this once.' },
    nonce: { type: 'string', description: 'What a private application authorizes the session by, once.' },
    expires_at: { ...instant, description: 'When it ends, unless it is authorized for longer.' },
  },
  examples: [
    {
      session_key: 'key_prod_ses_EXAMPLE',
      nonce: 'Zk3v0Q8b1mXy2tR5sW7uP9aC4dE6fG8hJ0kL2nM4pQ6',
      expires_at: '2026-11-21T09:33:00.000Z',
    },
  ],
};

export const authorizeSession: Schema = {
  title: 'SessionAuthorization',
  type: 'object',
  required: ['nonce'],
  properties: {
    nonce: { type: 'string', minLength: 1, maxLength: 200, description: 'The `nonce` of the session.' },
    permissions,
    rules: accessRules,
    expires_at: {
      type: ['string', 'null'],
      maxLength: 64,
      description: 'ISO 8601, at most 24 hours from now. Default: 3 minutes after the session was created.',
    },
  },
};
