import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { DomainError, ViolationCollector } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import type { Refine, Schema } from '../route.ts';
import { describeViolation } from './messages.ts';

const formats = addFormats.default;

function createAjv(options: { coerceTypes?: 'array'; removeAdditional?: true; allErrors: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    ...options,
    useDefaults: options.coerceTypes !== undefined,
    strict: true,
    strictTypes: false,
  });
  formats(ajv, ['uuid', 'date-time', 'uri']);
  return ajv;
}

const bodies = createAjv({ allErrors: true });
const queries = createAjv({ allErrors: true, coerceTypes: 'array' });
const answers = createAjv({ allErrors: false, removeAdditional: true });

/** Checks values of a schema; throws one 'invalid' error that names every violation. */
export type Check = (value: unknown) => void;

function compileCheck(ajv: Ajv2020, schema: Schema, refine?: Refine): Check {
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return;
    const errors = validate.errors ?? [];
    const violations = new ViolationCollector();
    for (const error of errors) {
      const described = describeViolation(error);
      if (described) violations.add(described.path, described.message);
    }
    if (refine && isJsonObject(value)) refine(soundMembers(value, errors), violations);
    violations.throwIfAny();
  };
}

/** The members of a body in which its schema found no fault. */
function soundMembers(body: JsonObject, errors: readonly ErrorObject[]): JsonObject {
  const faulty = new Set(errors.map(({ instancePath }) => instancePath.split('/')[1]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !faulty.has(name)));
}

/** Checks a JSON body as it is. */
export function compileBodyCheck(schema: Schema, refine?: Refine): Check {
  return compileCheck(bodies, schema, refine);
}

/** Checks query parameters, turning their texts into the schema's types and filling in its defaults in place. */
export function compileQueryCheck(schema: Schema): Check {
  return compileCheck(queries, schema);
}

/** The schema with every object that names its members closed to others. */
export function closeObjects(schema: Schema): Schema {
  const closeAny = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(closeAny) : typeof value === 'object' && value !== null ? close(value) : value;
  const close = (value: object): Schema => {
    const closed = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closeAny(member)]));
    return 'properties' in closed && !('additionalProperties' in closed)
      ? { ...closed, additionalProperties: false }
      : closed;
  };
  return close(schema);
}

/**
 * Removes from an answer, in place, every member that its schema does not name: the last guard against a field that
 * leaves by mistake. An answer that breaks its schema otherwise is a fault of ours and throws.
 */
export function compileAnswerFilter(schema: Schema): (answer: unknown) => void {
  const validate = answers.compile(closeObjects(schema));
  return (answer) => {
    if (!validate(answer)) {
      const { instancePath, keyword } = validate.errors![0]!;
      throw new Error(`The answer breaks its schema at '${instancePath}' (${keyword})`);
    }
  };
}

/** An 'invalid' error about the request as a whole. */
export function invalidRequest(detail: string): DomainError {
  return new DomainError('invalid', detail, { violations: { '': [detail] } });
}
