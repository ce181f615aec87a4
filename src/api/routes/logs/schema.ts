import { LOG_ENTITY_TYPES } from '../../../domain/logs.ts';
import type { Parameter, Schema } from '../../route.ts';
import { instant, uuid } from '../../schemas/common.ts';

export const log: Schema = {
  title: 'Log',
  type: 'object',
  description: 'One operation on one entity.',
  required: ['id', 'tenant_id', 'entity_type', 'entity_id', 'operation', 'message', 'created_at'],
  properties: {
    id: { ...uuid, description: 'Id of the entry.' },
    tenant_id: { ...uuid, description: 'Tenant of the entity.' },
    actor_id: { ...uuid, description: 'Who did it. Absent where the service itself did.' },
    actor_type: {
      type: 'string',
      description:
        '`application` or `session` by its key, `operator` by a declaration, or `system`, the service itself.',
    },
    entity_type: { type: 'string', description: 'What it was done to; `GET /logs/entity-types` lists what there is.' },
    entity_id: { type: 'string', description: 'Id of the entity.' },
    operation: { type: 'string', description: 'What was done: `create`, `read`, `update`, `delete`, `detokenize` …' },
    message: { type: 'string', description: 'The same as a sentence.' },
    created_at: { ...instant, description: 'When it was done.' },
  },
  examples: [
    {
      id: '019c6f5e-8a10-7c3b-9d2e-4f5a6b7c8d9e',
      tenant_id: '5d3c9a70-8a3b-4f6e-9b1d-2c7e4f5a6b80',
      actor_id: 'e1a7c3d4-52b6-4f8a-9c0d-1e2f3a4b5c6d',
      actor_type: 'application',
      entity_type: 'card',
      entity_id: 'd2cbc1b4-5c3a-45a3-9ee2-392a1c475ab4',
      operation: 'read',
      message: 'Token read',
      created_at: '2026-11-21T09:30:00.000Z',
    },
  ],
};

export const entityType: Schema = {
  title: 'EntityType',
  type: 'object',
  description: 'What a log can be about.',
  required: ['display_name', 'value'],
  properties: {
    display_name: { type: 'string', description: 'Its name for people.' },
    value: { type: 'string', description: 'Its name in the `entity_type` of logs.' },
  },
  examples: [{ display_name: 'Application key', value: 'application_key' }],
};

export const logFilters: readonly Parameter[] = [
  {
    name: 'entity_type',
    in: 'query',
    description: 'Logs about entities of this type.',
    schema: { type: 'string', enum: LOG_ENTITY_TYPES },
  },
  {
    name: 'entity_id',
    in: 'query',
    description: 'Logs about the entity with this id.',
    schema: { type: 'string', maxLength: 400 },
  },
  {
    name: 'start_date',
    in: 'query',
    description: 'Logs made at this time or later (ISO 8601).',
    schema: { type: 'string', maxLength: 64 },
  },
  {
    name: 'end_date',
    in: 'query',
    description: 'Logs made before this time (ISO 8601).',
    schema: { type: 'string', maxLength: 64 },
  },
];

/** For clients that number the pages of this list, as they do those of others, and stop at an empty one. */
export const logPage: Parameter = {
  name: 'page',
  in: 'query',
  description: 'Number of the page, from 1, counted from `start`. Following `pagination.next` is faster.',
  // Bounds the rows that an offset makes Postgres read and throw away.
  schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 1 },
};
