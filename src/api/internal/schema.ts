import { CONDITION_ATTRIBUTES, CONDITION_OPERATORS, TRANSFORMS } from '../../domain/access.ts';
import { APPLICATION_TYPES } from '../../domain/applications.ts';
import { SCALING_ENGINES } from '../../domain/declarations.ts';
import {
  CUSTOM_COUNTERS,
  LIMITED_RESOURCES,
  RATE_LIMIT_ACTIONS,
  RATE_LIMIT_PLANS,
} from '../../domain/rate-limit-quotas.ts';
import { REACTOR_LIMITS } from '../../domain/reactors.ts';
import { EGRESS_LIMITS } from '../../domain/egress.ts';
import { TENANT_TYPES } from '../../domain/tenants.ts';
import type { Schema } from '../route.ts';
import { textMap, uuid } from '../schemas/common.ts';

function object(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

const text: Schema = { type: 'string' };
const seconds: Schema = { type: 'integer', minimum: 0 };
const count: Schema = { type: 'integer', minimum: 1 };
const texts: Schema = { type: 'array', items: text };
const condition = object({
  attribute: { type: 'string', enum: CONDITION_ATTRIBUTES },
  operator: { type: 'string', enum: CONDITION_OPERATORS },
  value: text,
});

// How rules fit together is the domain's; what matters here is that each member is one that the domain knows.
const accessRule = object(
  {
    description: text,
    priority: count,
    container: text,
    conditions: { type: 'array', items: condition },
    transform: { type: 'string', enum: TRANSFORMS },
    permissions: texts,
  },
  ['description', 'container', 'conditions'],
);

// Which members belong to which plan and action, the Tenant's own schema says.
const rateLimit = object(
  {
    name: { type: 'string', minLength: 1 },
    resource: { type: 'string', enum: LIMITED_RESOURCES },
    applicationType: { type: 'string', enum: APPLICATION_TYPES },
    counter: { type: 'string', enum: CUSTOM_COUNTERS },
    requests: count,
    windowSeconds: count,
    action: { type: 'string', enum: RATE_LIMIT_ACTIONS },
    blockSeconds: count,
  },
  ['resource', 'applicationType', 'blockSeconds'],
);

export const tenantDeclaration = object(
  {
    name: text,
    type: { type: 'string', enum: TENANT_TYPES },
    quotas: object({
      tokenize: count,
      detokenize: count,
      logRetentionSeconds: seconds,
      cvcRetentionSeconds: seconds,
      rateLimit: object(
        { plan: { type: 'string', enum: RATE_LIMIT_PLANS }, rows: { type: 'array', items: rateLimit } },
        ['rows'],
      ),
    }),
    settings: object({ deduplicateTokens: { type: 'boolean' }, fingerprintTokens: { type: 'boolean' } }),
    declared: { type: 'boolean' },
  },
  ['declared'],
);

export const applicationDeclaration = object(
  {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    type: { type: 'string', enum: APPLICATION_TYPES },
    permissions: texts,
    rules: { type: 'array', items: accessRule },
    expiresAt: text,
    keys: {
      type: 'array',
      items: object({ id: uuid, digest: { type: 'string', pattern: '^[0-9a-f]{64}$' }, expiresAt: text }, [
        'expiresAt',
      ]),
    },
  },
  ['expiresAt'],
);

const scaling = object(
  {
    engine: { type: 'string', enum: SCALING_ENGINES },
    minReplicas: { type: 'integer', minimum: 0 },
    maxReplicas: count,
    concurrency: count,
    idleSeconds: seconds,
  },
  ['engine'],
);

export const reactorDeclaration = object(
  {
    name: { type: 'string', minLength: 1, maxLength: REACTOR_LIMITS.nameLength },
    code: { type: 'string', minLength: 1, maxLength: REACTOR_LIMITS.codeLength },
    configuration: textMap('Configuration.', {
      maxProperties: REACTOR_LIMITS.configurationEntries,
      additionalProperties: { type: 'string', maxLength: REACTOR_LIMITS.configurationValueLength },
    }),
    applicationId: uuid,
    timeoutSeconds: { type: 'integer', minimum: 1, maximum: REACTOR_LIMITS.timeoutSeconds },
    scaling,
    memoryBytes: count,
    egress: object({
      allow: {
        type: 'array',
        maxItems: EGRESS_LIMITS.entries,
        items: { type: 'string', maxLength: EGRESS_LIMITS.entryLength },
      },
    }),
  },
  ['applicationId', 'egress'],
);

export const instance = object({ address: text, credential: text, revision: text, serverName: text }, ['serverName']);

export const instances = object({ instances: { type: 'array', items: instance } });
