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
  return { type: 'object', description: 'What its own applications may set.', properties: Object.fromEntries(entries) };
}

export const updateTenant: Schema = {
  title: 'TenantUpdate',
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200, description: 'What people call it.' },
    settings: { ...settings({ enum: [true, false, 'true', 'false'] }), maxProperties: 50 },
  },
};

const count: Schema = { type: 'integer' };

export const tenant: Schema = {
  title: 'Tenant',
  type: 'object',
  required: ['id', 'name', 'type', 'settings', 'quotas'],
  properties: {
    id: { ...uuid, description: 'Id of the tenant.' },
    name: { type: 'string', description: 'What people call it.' },
    type: { type: 'string', enum: TENANT_TYPES, description: '`test` tenants have lower rate limits.' },
    settings: settings({ type: 'string', enum: ['true', 'false'] }),
    quotas: {
      type: 'object',
      description: 'Bounds that the operator of the service sets.',
      properties: {
        rate_limit: {
          type: 'string',
          enum: RATE_LIMIT_PLANS,
          description: 'Whether requests are limited as usual, not at all, or by limits of its own.',
        },
        tokenize: { ...count, description: 'Tokens that one request may create.' },
        detokenize: { ...count, description: 'Tokens that one request may detokenize.' },
        log_retention_seconds: { ...count, description: 'How long logs are kept.' },
        cvc_retention_seconds: { ...count, description: 'How long card verification codes are kept.' },
      },
    },
  },
  examples: [
    {
      id: '5d3c9a70-8a3b-4f6e-9b1d-2c7e4f5a6b80',
      name: 'Acme',
      type: 'production',
      settings: { deduplicate_tokens: 'false', fingerprint_tokens: 'true' },
      quotas: {
        rate_limit: 'Default',
        tokenize: 5,
        detokenize: 5,
        log_retention_seconds: 86400,
        cvc_retention_seconds: 3600,
      },
    },
  ],
};

export const usageReport: Schema = {
  title: 'UsageReport',
  type: 'object',
  required: ['total_tokens'],
  properties: { total_tokens: { ...count, description: 'Tokens that the tenant holds now, expired ones left out.' } },
  examples: [{ total_tokens: 1204 }],
};
