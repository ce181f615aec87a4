import type { Parameter, ResponseDefinition, Schema } from '../route.ts';

// The format alone would let `urn:uuid:…` through, which Postgres does not take.
export const uuid: Schema = { type: 'string', format: 'uuid', maxLength: 36 };
export const instant: Schema = { type: 'string', format: 'date-time' };

/** A map of texts, such as metadata or a reactor's configuration. */
export function textMap(description: string, limits: Schema = {}): Schema {
  return { type: 'object', description, additionalProperties: { type: 'string' }, ...limits };
}

export const problem: Schema = {
  title: 'Problem',
  type: 'object',
  description: 'An error (RFC 9457).',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: 'Always `about:blank`: the status says what kind of problem it is.' },
    title: { type: 'string', description: 'What the status means.' },
    status: { type: 'integer', description: 'The status of the answer.' },
    detail: { type: 'string', description: 'What is wrong with this request, for a person.' },
    instance: { type: 'string', description: 'The trace id of the request.' },
    errors: {
      type: 'object',
      description: 'Property path to messages; all violations of a request are reported together.',
      additionalProperties: { type: 'array', items: { type: 'string' }, description: 'What is wrong with it.' },
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

/** Who made a resource and when, and who changed it last. */
export const authorship: Readonly<Record<string, Schema>> = {
  created_by: { ...uuid, description: 'Id of the application that created it. Absent where a declaration did.' },
  created_at: { ...instant, description: 'When it was created.' },
  modified_by: { ...uuid, description: 'Id of the application that changed it last. Absent before the first change.' },
  modified_at: { ...instant, description: 'When it was changed last. Absent before the first change.' },
};

function pageOf(pagination: Schema, items: Schema): Schema {
  const example = (schema: Schema) => (schema['examples'] as unknown[])[0];
  return {
    type: 'object',
    required: ['pagination', 'data'],
    properties: {
      pagination,
      data: { type: 'array', items, description: 'The items of the page.' },
    },
    examples: [{ pagination: example(pagination), data: [example(items)] }],
  };
}

const pageSize: Schema = { type: 'integer', description: 'The `size` that was asked for.' };

const offsetPagination: Schema = {
  title: 'OffsetPagination',
  type: 'object',
  description: 'Where in the list the page is.',
  required: ['total_items', 'page_number', 'page_size', 'total_pages'],
  properties: {
    total_items: { type: 'integer', description: 'Items of the whole list.' },
    page_number: { type: 'integer', description: 'The `page` that was asked for.' },
    page_size: pageSize,
    total_pages: { type: 'integer', description: 'Pages of the whole list.' },
  },
  examples: [{ total_items: 1, page_number: 1, page_size: 20, total_pages: 1 }],
};

const cursorPagination: Schema = {
  title: 'CursorPagination',
  type: 'object',
  description: 'How to go on in the list.',
  required: ['page_size'],
  properties: {
    next: { type: 'string', description: 'The `start` of the next page. Absent on the last page.' },
    page_size: pageSize,
  },
  examples: [{ next: 'AbWcLqYpU1Y1v3Qm0e7Zr9', page_size: 20 }],
};

/** A page of a list that is numbered by page; `items` has examples. */
export function offsetEnvelope(items: Schema): Schema {
  return pageOf(offsetPagination, items);
}

/** A page of a list that is followed by cursor; `items` has examples. */
export function cursorEnvelope(items: Schema): Schema {
  return pageOf(cursorPagination, items);
}

/** A whole list; `items` has examples. */
export function listOf(items: Schema): Schema {
  return { type: 'array', items, examples: [items['examples']] };
}

export const locationHeader = {
  Location: { description: 'Path of what was created.', schema: { type: 'string' } },
};

export const noContent: ResponseDefinition = { description: 'Done; the answer has no body.' };
