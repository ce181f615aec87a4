import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { DomainError, ViolationCollector } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import type { Refine, Schema } from '../route.ts';
import { describeViolation } from './messages.ts';

const formats = addFormats.default;

function createAjv(options: { useDefaults?: true; removeAdditional?: true; allErrors: boolean }): Ajv2020 {
  const ajv = new Ajv2020({ ...options, strict: true, strictTypes: false });
  formats(ajv, ['uuid', 'date-time', 'uri']);
  return ajv;
}

const bodies = createAjv({ allErrors: true });
const firstFaults = createAjv({ allErrors: false });
const queries = createAjv({ allErrors: true, useDefaults: true });
const answers = createAjv({ allErrors: false, removeAdditional: true });

/** Checks values of a schema; throws one 'invalid' error that names every violation. */
export type Check = (value: unknown) => void;

/** JSON values up to which every fault of a body is looked for; in a larger one the first is told. */
const THOROUGH_NODES = 10_000;

function throwFaults(errors: readonly ErrorObject[], refine: (violations: ViolationCollector) => void): void {
  const violations = new ViolationCollector();
  for (const error of errors) {
    const described = describeViolation(error);
    if (described) violations.add(described.path, described.message);
  }
  refine(violations);
  violations.throwIfAny();
}

/** Whether the parts of a body that its schema describes hold more JSON values than can be looked into in full. */
function isLarge(body: unknown, schema: Schema): boolean {
  const described = schema['properties'] as Record<string, Schema> | undefined;
  const open: unknown[] = isJsonObject(body)
    ? Object.entries(body).flatMap(([name, member]) => (described?.[name]?.['type'] === undefined ? [] : [member]))
    : [body];
  for (let count = 0; open.length > 0; count++) {
    const value = open.pop();
    if (count + open.length > THOROUGH_NODES) return true;
    if (Array.isArray(value)) {
      if (value.length > THOROUGH_NODES) return true;
      for (const element of value as unknown[]) open.push(element);
    } else if (isJsonObject(value)) {
      // Without a list of them all, which is what costs.
      for (const name in value) {
        if (open.push(value[name]) > THOROUGH_NODES) return true;
      }
    }
  }
  return false;
}

/**
 * Checks a JSON body as it is. `refine` adds what a schema cannot say, over the members that are sound in shape.
 */
export function compileBodyCheck(schema: Schema, refine?: Refine): Check {
  const findFirst = firstFaults.compile(schema);
  const findAll = bodies.compile(schema);
  return (value) => {
    if (findFirst(value)) return;
    // Looking for all faults costs time with each of them: a body of half a million would hold up everyone else.
    if (isLarge(value, schema)) return throwFaults(findFirst.errors ?? [], () => undefined);
    findAll(value);
    const errors = findAll.errors ?? [];
    throwFaults(errors, (violations) => {
      if (refine && isJsonObject(value)) refine(soundMembers(value, errors), violations, value);
    });
  };
}

/** The members of a body in which its schema found no fault, and lists that are just too long. */
function soundMembers(body: JsonObject, errors: readonly ErrorObject[]): JsonObject {
  const faults = errors.filter(({ keyword }) => keyword !== 'maxItems');
  const faulty = new Set(faults.map(({ instancePath }) => instancePath.split('/')[1]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !faulty.has(name)));
}

const DECIMAL = /^-?\d+$/;

/** The integers of a query as numbers, in place. Other spellings that JavaScript knows, such as 1e2, stay texts. */
function readIntegers(query: Record<string, unknown>, properties: Record<string, Schema>): void {
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query[name];
    if (type === 'integer' && typeof text === 'string' && DECIMAL.test(text)) query[name] = Number(text);
  }
}

/** Checks query parameters, turning texts of integers into numbers and filling in the schema's defaults in place. */
export function compileQueryCheck(schema: Schema): Check {
  const validate = queries.compile(schema);
  return (query) => {
    readIntegers(query as Record<string, unknown>, schema['properties'] as Record<string, Schema>);
    if (!validate(query)) throwFaults(validate.errors ?? [], () => undefined);
  };
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
