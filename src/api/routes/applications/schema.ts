import { CONDITION_ATTRIBUTES, CONDITION_OPERATORS, TRANSFORMS } from '../../../domain/access.ts';
import { APPLICATION_LIMITS, APPLICATION_TYPES } from '../../../domain/applications.ts';
import { PERMISSION_NAMES } from '../../../domain/permissions.ts';
import type { Schema } from '../../route.ts';
import { authorship, instant, uuid } from '../../schemas/common.ts';
import { applicationKey } from '../application-keys/schema.ts';

// Which of them fit which application type is a rule of the domain.
export const permissions: Schema = {
  type: 'array',
  description: 'What is granted; `GET /permissions` lists what there is.',
  items: { type: 'string', enum: PERMISSION_NAMES },
  maxItems: 100,
};

const condition: Schema = {
  title: 'AccessCondition',
  type: 'object',
  description: 'What a token must be like.',
  required: ['attribute', 'operator', 'value'],
  properties: {
    attribute: { type: 'string', enum: CONDITION_ATTRIBUTES, description: 'What of the token is compared.' },
    operator: { type: 'string', enum: CONDITION_OPERATORS, description: 'How it is compared.' },
    value: { type: 'string', minLength: 1, maxLength: 400, description: 'With what it is compared.' },
  },
};

function ruleWith(conditionSchema: Schema): Schema {
  return {
    title: 'AccessRule',
    type: 'object',
    description: 'Grants permissions on the tokens of a container, or on those that meet all conditions.',
    required: ['priority', 'transform', 'permissions'],
    properties: {
      description: { type: 'string', maxLength: 1000, description: 'What the rule is for.' },
      priority: { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'Lower numbers are tried first.' },
      container: {
        type: 'string',
        maxLength: 400,
        description: 'A path such as `/pci/`; what lies below it is included. Excludes `conditions`.',
      },
      conditions: {
        type: 'array',
        items: conditionSchema,
        maxItems: 20,
        description: 'For sessions: all of them must be met. Excludes `container`.',
      },
      transform: {
        type: 'string',
        enum: TRANSFORMS,
        description: 'How `data` is shown: not at all, through the mask, or in plaintext.',
      },
      permissions,
    },
  };
}

const accessRule = ruleWith(condition);
// Answers are closed to members that they do not name, and requests are not: these are other schemas.
const accessRuleInput = {
  ...ruleWith({ ...condition, title: 'AccessConditionInput' }),
  title: 'AccessRuleInput',
};

const name: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: APPLICATION_LIMITS.nameLength,
  description: 'What people call it.',
};
const type: Schema = {
  type: 'string',
  enum: APPLICATION_TYPES,
  description: '`private`: backends; `public`: browsers and mobile apps; `management`: infrastructure.',
};

const RULES = 'Access rules, the first that covers a token and the operation decides. Not for management applications.';

export const accessRules: Schema = { type: 'array', items: accessRuleInput, maxItems: 200, description: RULES };

export const createApplication: Schema = {
  title: 'NewApplication',
  type: 'object',
  required: ['name', 'type'],
  properties: {
    name,
    type,
    permissions,
    rules: accessRules,
    expires_at: { type: ['string', 'null'], maxLength: 64, description: 'ISO 8601; the application is deleted then.' },
    create_key: { type: 'boolean', description: 'Whether a key is created and answered in `key`. Default: true.' },
  },
};

export const updateApplication: Schema = {
  title: 'ApplicationUpdate',
  type: 'object',
  required: ['name'],
  properties: { name, permissions, rules: accessRules },
};

export const application: Schema = {
  title: 'Application',
  type: 'object',
  description: 'A calling system, with its keys and what it may do.',
  required: ['id', 'tenant_id', 'name', 'type', 'permissions', 'rules'],
  properties: {
    id: { ...uuid, description: 'Id of the application.' },
    tenant_id: { ...uuid, description: 'Tenant of the application.' },
    name: { type: 'string', description: 'What people call it.' },
    key: { type: 'string', description: 'The credential. Only in the answer that created it.' },
    keys: { type: 'array', items: applicationKey, description: 'Its keys, without their values.' },
    type,
    permissions: { type: 'array', items: { type: 'string' }, description: 'Permissions on everything.' },
    rules: { type: 'array', items: accessRule, description: RULES },
    expires_at: { ...instant, description: 'When it is deleted. Absent: never.' },
    ...authorship,
  },
  examples: [
    {
      id: 'e1a7c3d4-52b6-4f8a-9c0d-1e2f3a4b5c6d',
      tenant_id: '5d3c9a70-8a3b-4f6e-9b1d-2c7e4f5a6b80',
      name: 'Checkout',
      keys: applicationKey['examples'],
      type: 'private',
      permissions: [],
      rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] }],
      created_by: '9c4e2b1a-7d60-4a35-8e9f-0a1b2c3d4e5f',
      created_at: '2026-11-21T09:30:00.000Z',
    },
  ],
};

const EXAMPLE = (application['examples'] as object[])[0]!;

/** An application in an answer that made a key of it. */
export const applicationWithKey: Schema = {
  ...application,
  examples: [{ ...EXAMPLE, key: 'key_prod_pvt_EXAMPLE' }],
};
