import { CONDITION_ATTRIBUTES, CONDITION_OPERATORS, TRANSFORMS } from '../../../domain/access.ts';
import { APPLICATION_LIMITS, APPLICATION_TYPES } from '../../../domain/applications.ts';
import { PERMISSION_NAMES } from '../../../domain/permissions.ts';
import type { Schema } from '../../route.ts';
import { instant, uuid } from '../../schemas/common.ts';
import { applicationKey } from '../application-keys/schema.ts';

// Which of them fit which application type is a rule of the domain.
export const permissions: Schema = { type: 'array', items: { type: 'string', enum: PERMISSION_NAMES }, maxItems: 100 };

const condition: Schema = {
  type: 'object',
  required: ['attribute', 'operator', 'value'],
  properties: {
    attribute: { type: 'string', enum: CONDITION_ATTRIBUTES },
    operator: { type: 'string', enum: CONDITION_OPERATORS },
    value: { type: 'string', minLength: 1, maxLength: 400 },
  },
};

const accessRule: Schema = {
  type: 'object',
  required: ['priority', 'transform', 'permissions'],
  properties: {
    description: { type: 'string', maxLength: 1000 },
    priority: { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'Lower numbers are tried first.' },
    container: { type: 'string', maxLength: 400 },
    conditions: { type: 'array', items: condition, maxItems: 20 },
    transform: { type: 'string', enum: TRANSFORMS },
    permissions,
  },
};

const name: Schema = { type: 'string', minLength: 1, maxLength: APPLICATION_LIMITS.nameLength };
export const accessRules: Schema = { type: 'array', items: accessRule, maxItems: 200 };

export const createApplication: Schema = {
  type: 'object',
  required: ['name', 'type'],
  properties: {
    name,
    type: { type: 'string', enum: APPLICATION_TYPES },
    permissions,
    rules: accessRules,
    expires_at: { type: ['string', 'null'], maxLength: 64, description: 'ISO 8601; the application is deleted then.' },
    create_key: { type: 'boolean', description: 'Whether a key is created and answered in `key`. Default: true.' },
  },
};

export const updateApplication: Schema = {
  type: 'object',
  required: ['name'],
  properties: { name, permissions, rules: accessRules },
};

export const application: Schema = {
  type: 'object',
  required: ['id', 'tenant_id', 'name', 'type', 'permissions', 'rules'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    name: { type: 'string' },
    key: { type: 'string', description: 'Only in the answer that created it.' },
    keys: { type: 'array', items: applicationKey },
    type: { type: 'string', enum: APPLICATION_TYPES },
    permissions: { type: 'array', items: { type: 'string' } },
    rules: { type: 'array', items: accessRule },
    expires_at: instant,
    created_by: uuid,
    created_at: instant,
    modified_by: uuid,
    modified_at: instant,
  },
};
