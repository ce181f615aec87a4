import { toValue, toValueSync } from 'liquidjs';
import type { Json } from '../domain/json.ts';
import { ExpressionFault } from './fault.ts';
import type { StandardFilter, StandardFilterScope } from './filters/standard.ts';
import { type Budget, MAX_OUTPUT, sizeOf } from './limits.ts';

/** Characters of text, or of a structure's JSON, that a standard filter takes. */
export const MAX_STANDARD_INPUT = 100_000;
/** The same for each of its arguments: patterns and date formats cost far more per character than text. */
export const MAX_STANDARD_ARGUMENT = 2_000;

/** Elements that a filter takes which reads a property of each. */
export const MAX_ELEMENTS = 2_000;

// A property's name and a date's format are small programs that the library interprets.
const PROPERTY = /^[^[\].]{1,50}(?:\.[^[\].]{1,50}){0,4}$/;
const READS_PROPERTIES = new Set([
  'find',
  'find_index',
  'has',
  'map',
  'reject',
  'sort',
  'sort_natural',
  'sum',
  'where',
]);
const MAX_DATE_FORMAT = 100;

/**
 * Runs a filter of the library within bounds. The library counts the text that its filters make, not the time that they
 * take to make it, and some sort, or search for a pattern: so their input is bounded instead.
 */
export function runStandardFilter(
  name: string,
  filter: StandardFilter,
  value: Json,
  args: readonly Json[],
  scope: StandardFilterScope,
  budget: Budget,
): Json {
  const size = sizeOf(value, MAX_STANDARD_INPUT);
  if (size > MAX_STANDARD_INPUT) {
    throw new ExpressionFault(`takes values of up to ${MAX_STANDARD_INPUT} characters`);
  }
  for (const argument of args) {
    if (sizeOf(argument, MAX_STANDARD_ARGUMENT) > MAX_STANDARD_ARGUMENT) {
      throw new ExpressionFault(`takes arguments of up to ${MAX_STANDARD_ARGUMENT} characters`);
    }
  }
  checkFirstArgument(name, value, args[0] ?? null);
  budget.spend(size + 1);
  const result = jsonOf(toValue(toValueSync(filter.call(scope, value, ...args))));
  const made = sizeOf(result, MAX_OUTPUT);
  if (made > MAX_OUTPUT) throw new ExpressionFault('gives too large a result');
  budget.spend(made);
  return result;
}

function checkFirstArgument(name: string, value: Json, argument: Json): void {
  if (argument === null) return;
  if (name === 'date' && sizeOf(argument, MAX_DATE_FORMAT) > MAX_DATE_FORMAT) {
    throw new ExpressionFault(`takes formats of up to ${MAX_DATE_FORMAT} characters`);
  }
  if (!READS_PROPERTIES.has(name)) return;
  if (typeof argument !== 'string' || !PROPERTY.test(argument)) {
    throw new ExpressionFault('takes a property name, or up to five with dots between');
  }
  if (Array.isArray(value) && value.length > MAX_ELEMENTS) {
    throw new ExpressionFault(`takes arrays of up to ${MAX_ELEMENTS} elements`);
  }
}

function jsonOf(result: unknown): Json {
  if (result === undefined || result === null) return null;
  if (typeof result === 'number' && !Number.isFinite(result)) throw new ExpressionFault('gives no finite number');
  // What an element lacks is undefined, which JSON cannot carry.
  if (Array.isArray(result)) return (result as (Json | undefined)[]).map((element) => element ?? null);
  return result as Json;
}
