import { LOG_ENTITY_TYPES } from '../../../domain/logs.ts';
import type { Parameter, Schema } from '../../route.ts';
import { instant, uuid } from '../../schemas/common.ts';

export const log: Schema = {
  type: 'object',
  required: ['id', 'tenant_id', 'entity_type', 'entity_id', 'operation', 'message', 'created_at'],
  properties: {
    id: uuid,
    tenant_id: uuid,
    actor_id: uuid,
    actor_type: { type: 'string' },
    entity_type: { type: 'string' },
    entity_id: { type: 'string' },
    operation: { type: 'string' },
    message: { type: 'string' },
    created_at: instant,
  },
};

export const entityType: Schema = {
  type: 'object',
  required: ['display_name', 'value'],
  properties: { display_name: { type: 'string' }, value: { type: 'string' } },
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
