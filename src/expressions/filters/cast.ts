import type { Json } from '../../domain/json.ts';
import { ExpressionFault } from '../fault.ts';
import { MAX_OUTPUT } from '../limits.ts';
import { defineFilter } from './filter.ts';

/** The text of a value amid other text, and of `stringify`: strings as they are, nothing for null, else JSON. */
export function jsonText(value: Json): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}

export const stringify = defineFilter([], (value, _args, budget) => {
  const result = jsonText(value);
  budget.spend(result.length);
  return result;
});

export const to_string = stringify;

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const LONGEST_NUMBER = 400;

export const to_number = defineFilter([], (value) => {
  if (typeof value === 'number') return value;
  const digits = typeof value === 'string' && value.length <= LONGEST_NUMBER ? value.trim() : '';
  const number = NUMBER.test(digits) ? Number(digits) : NaN;
  // A card number that came back with other digits would be worse than a refusal.
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number))) {
    throw new ExpressionFault('takes text that is a number, up to 15 digits without loss');
  }
  return number;
});

export const to_boolean = defineFilter([], (value) => {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' && value.length < MAX_OUTPUT ? value.slice(0, 20).trim().toLowerCase() : value;
  if (word === 'true' || word === 1 || word === '1') return true;
  if (word === 'false' || word === 0 || word === '0') return false;
  throw new ExpressionFault('takes true, false, 1 or 0');
});
