import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import type { Json } from '../../domain/json.ts';
import { findRepeatedItems } from './repeated-items.ts';
import type { StructuralSchema } from './structural-schema.ts';
import type { Violation } from './violation.ts';

export interface ShapeVerdict {
  /** Every way in which a value departs from its schema. */
  violations: Violation[];
  /** Whether CEL rules can be asked nevertheless: as in the API server, only where no value is of a wrong kind or size. */
  allowsRules: boolean;
}

export type ShapeValidator = (value: Json) => ShapeVerdict;

const ARTICLES: Record<string, string> = { object: 'an object', array: 'a list', integer: 'an integer' };

const BLOCKING_KEYWORDS = 'type required enum maxLength maxItems maxProperties additionalProperties'.split(' ');

/**
 * A validator of types, bounds, enums, patterns, unknown members and repeated entries of lists. Unknown members are
 * refused, as by `kubectl`: what is ignored silently is a mistake that nobody finds.
 */
export function createShapeValidator(schema: StructuralSchema): ShapeValidator {
  const ajv = new Ajv({ allErrors: true, strict: true });
  // int32 and int64 are bounds of Go's types; our own bounds are tighter. Times stand in status alone.
  for (const format of ['int32', 'int64', 'date-time']) ajv.addFormat(format, true);
  const validate = ajv.compile(withOpenMetadata(schema));
  return (value) => {
    const errors = validate(value) ? [] : (validate.errors ?? []);
    return {
      violations: [...errors.map(toViolation), ...findRepeatedItems(schema, value)],
      allowsRules: !errors.some(({ keyword }) => BLOCKING_KEYWORDS.includes(keyword)),
    };
  };
}

/** A CRD may say no more of `metadata` than what names are taken: what else it holds is Kubernetes' own. */
function withOpenMetadata(schema: StructuralSchema): Record<string, unknown> {
  const result = toJsonSchema(schema);
  const properties = result['properties'] as Record<string, Record<string, unknown>> | undefined;
  if (properties?.['metadata'] !== undefined) delete properties['metadata']['additionalProperties'];
  return result;
}

function toJsonSchema(schema: StructuralSchema): Record<string, unknown> {
  const {
    'x-kubernetes-list-type': _listType,
    'x-kubernetes-list-map-keys': _mapKeys,
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
  if (properties !== undefined) {
    result['properties'] = Object.fromEntries(
      Object.entries(properties).map(([member, child]) => [member, toJsonSchema(child)]),
    );
  }
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
    default:
      return { path, message: error.message ?? 'is not valid' };
  }
}
