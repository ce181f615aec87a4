import { RATE_LIMIT_PLANS } from '../../../domain/rate-limit-quotas.ts';
import { TENANT_TYPES } from '../../../domain/tenants.ts';
import type { Schema } from '../../route.ts';
import { uuid } from '../../schemas/common.ts';

const descriptions = {
  deduplicate_tokens: 'Whether creating a token whose data is known already returns the existing one.',
  fingerprint_tokens: 'Whether tokens get a fingerprint. Without, they have none and duplicates are not found.',
};

function settings(value: Schema): Schema {
  const entries = Object.entries(descriptions).map(([name, description]) => [name, { ...value, description }]);
  return { type: 'object', properties: Object.fromEntries(entries) };
}

export const updateTenant: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    settings: { ...settings({ enum: [true, false, 'true', 'false'] }), maxProperties: 50 },
  },
};

const count: Schema = { type: 'integer' };

export const tenant: Schema = {
  type: 'object',
  required: ['id', 'name', 'type', 'settings', 'quotas'],
  properties: {
    id: uuid,
    name: { type: 'string' },
    type: { type: 'string', enum: TENANT_TYPES },
    settings: settings({ type: 'string', enum: ['true', 'false'] }),
    quotas: {
      type: 'object',
      description: 'Bounds that the operator of the service sets.',
      properties: {
        rate_limit: { type: 'string', enum: RATE_LIMIT_PLANS },
        tokenize: { ...count, description: 'Tokens that one request may create.' },
        detokenize: { ...count, description: 'Tokens that one request may detokenize.' },
        log_retention_seconds: count,
        cvc_retention_seconds: count,
      },
    },
  },
};

export const usageReport: Schema = {
  type: 'object',
  required: ['total_tokens'],
  properties: { total_tokens: { ...count, description: 'Tokens that the tenant holds now, expired ones left out.' } },
};
