import type { Schema } from '../../route.ts';
import { accessRules, permissions } from '../applications/schema.ts';
import { instant } from '../../schemas/common.ts';

export const createdSession: Schema = {
  type: 'object',
  required: ['session_key', 'nonce', 'expires_at'],
  properties: {
    session_key: { type: 'string', description: 'The key of the session. It is shown this once.' },
    nonce: { type: 'string', description: 'What a private application authorizes the session by, once.' },
    expires_at: instant,
  },
};

export const authorizeSession: Schema = {
  type: 'object',
  required: ['nonce'],
  properties: {
    nonce: { type: 'string', minLength: 1, maxLength: 200 },
    permissions,
    rules: accessRules,
    expires_at: {
      type: ['string', 'null'],
      maxLength: 64,
      description: 'ISO 8601, at most 24 hours from now. Default: 3 minutes after the session was created.',
    },
  },
};
