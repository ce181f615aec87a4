import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import ajvFormats from 'ajv-formats';
import { isJsonObject } from '../../domain/json.ts';
import type { Json } from '../../domain/json.ts';
import type { StructuralSchema } from './structural-schema.ts';
import type { Violation } from './violation.ts';

/** Finds every way in which a value departs from a structural schema. */
export type ShapeValidator = (value: Json) => Violation[];

const ARTICLES: Record<string, string> = { object: 'an object', array: 'a list', integer: 'an integer' };

/**
 * A validator of types, bounds, enums, patterns and unknown members. Where the API server would drop an unknown
 * member, it is refused: what is ignored silently is a mistake that nobody finds.
 */
export function createShapeValidator(schema: StructuralSchema): ShapeValidator {
  const ajv = new Ajv({ allErrors: true, strict: true });
  ajvFormats.default(ajv, ['date-time']);
  // int32 and int64 are bounds of Go's types; our own bounds are tighter.
  for (const format of ['int32', 'int64']) ajv.addFormat(format, true);
  ajv.addKeyword({
    keyword: 'x-list-map-keys',
    schemaType: 'array',
    error: { message: 'must not repeat an entry' },
    validate: hasUniqueKeys,
  });
  const validate = ajv.compile(toJsonSchema(schema));
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(toViolation));
}

function hasUniqueKeys(keys: string[], list: Json[]): boolean {
  const seen = list.filter(isJsonObject).map((item) => JSON.stringify(keys.map((key) => item[key])));
  return new Set(seen).size === seen.length;
}

function toJsonSchema(schema: StructuralSchema): Record<string, unknown> {
  const {
    'x-kubernetes-list-type': listType,
    'x-kubernetes-list-map-keys': mapKeys,
    'x-kubernetes-validations': _rules,
    description: _description,
    default: _default,
    properties,
    additionalProperties,
    items,
    ...plain
  } = schema;
  const result: Record<string, unknown> = { ...plain };
  if (items !== undefined) result['items'] = toJsonSchema(items);
  if (listType === 'set') result['uniqueItems'] = true;
  if (listType === 'map') result['x-list-map-keys'] = mapKeys ?? [];
  if (properties !== undefined) {
    result['properties'] = Object.fromEntries(
      Object.entries(properties).map(([member, child]) => [member, toJsonSchema(child)]),
    );
  }
  // `metadata` is described as a bare object: what it may hold is Kubernetes' own, and checked apart.
  if (additionalProperties !== undefined) result['additionalProperties'] = toJsonSchema(additionalProperties);
  else if (properties !== undefined) result['additionalProperties'] = false;
  return result;
}

function toViolation(error: ErrorObject): Violation {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'additionalProperties':
      return { path: [...path, String(params['additionalProperty'])], message: 'is not a known field' };
    case 'required':
      return { path: [...path, String(params['missingProperty'])], message: 'is required' };
    case 'enum':
      return { path, message: `must be one of ${(params['allowedValues'] as string[]).join(', ')}` };
    case 'type':
      return { path, message: `must be ${ARTICLES[String(params['type'])] ?? `a ${String(params['type'])}`}` };
    case 'uniqueItems':
      return { path, message: 'must not repeat an entry' };
    case 'format':
      return { path, message: 'must be a date and time with its offset, as 2030-01-31T00:00:00Z' };
    default:
      return { path, message: error.message ?? 'is not valid' };
  }
}
