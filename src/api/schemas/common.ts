import type { Parameter, ResponseDefinition, Schema } from '../route.ts';

// The format alone would let `urn:uuid:…` through, which Postgres does not take.
export const uuid: Schema = { type: 'string', format: 'uuid', maxLength: 36 };
export const instant: Schema = { type: 'string', format: 'date-time' };
export const anyJson: Schema = { description: 'Any JSON value.' };

/** A map of texts, such as metadata or a reactor's configuration. */
export function textMap(description: string, limits: Schema = {}): Schema {
  return { type: 'object', description, additionalProperties: { type: 'string' }, ...limits };
}

export const problem: Schema = {
  type: 'object',
  description: 'An error (RFC 9457).',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'The trace id of the request.' },
    errors: {
      type: 'object',
      description: 'Property path to messages; all violations of a request are reported together.',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    },
  },
};

export const pathId = (description: string, schema: Schema = uuid): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description,
  schema,
});

const size: Parameter = {
  name: 'size',
  in: 'query',
  description: 'Items per page.',
  schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
};

/** `page` and `size`, as offset-paginated lists take them. */
export const offsetParameters: readonly Parameter[] = [
  {
    name: 'page',
    in: 'query',
    description: 'Number of the page, from 1.',
    // Bounds the rows that an offset makes Postgres read and throw away.
    schema: { type: 'integer', minimum: 1, maximum: 1_000_000, default: 1 },
  },
  size,
];

/** `start` and `size`, as cursor-paginated lists take them. */
export const cursorParameters: readonly Parameter[] = [
  {
    name: 'start',
    in: 'query',
    description: 'Cursor from `pagination.next` of the previous answer.',
    schema: { type: 'string', minLength: 1, maxLength: 2000 },
  },
  size,
];

/** `id`, repeatable. */
export const idsParameter = (description: string, items: Schema = uuid): Parameter => ({
  name: 'id',
  in: 'query',
  description,
  schema: { type: 'array', items, maxItems: 100 },
});

export function offsetEnvelope(items: Schema): Schema {
  return {
    type: 'object',
    required: ['pagination', 'data'],
    properties: {
      pagination: {
        type: 'object',
        required: ['total_items', 'page_number', 'page_size', 'total_pages'],
        properties: {
          total_items: { type: 'integer' },
          page_number: { type: 'integer' },
          page_size: { type: 'integer' },
          total_pages: { type: 'integer' },
        },
      },
      data: { type: 'array', items },
    },
  };
}

export function cursorEnvelope(items: Schema): Schema {
  return {
    type: 'object',
    required: ['pagination', 'data'],
    properties: {
      pagination: {
        type: 'object',
        required: ['page_size'],
        properties: {
          next: { type: 'string', description: 'Absent on the last page.' },
          page_size: { type: 'integer' },
        },
      },
      data: { type: 'array', items },
    },
  };
}

export const locationHeader = {
  Location: { description: 'Path of what was created.', schema: { type: 'string' } },
};

export const noContent: ResponseDefinition = { description: 'Done; the answer has no body.' };
