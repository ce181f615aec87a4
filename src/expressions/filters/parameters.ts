import type { Json } from '../../domain/json.ts';
import { ExpressionFault } from '../fault.ts';
import { MAX_OUTPUT } from '../limits.ts';
import type { Parameter } from './filter.ts';

function parameter<T>(name: string, fallback: T | undefined, read: (value: Json) => T): Parameter<T> {
  return fallback === undefined ? { name, read } : { name, fallback, read };
}

/** A count of characters. */
export function count(name: string, fallback?: number): Parameter<number> {
  return parameter(name, fallback, (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_OUTPUT) {
      throw new ExpressionFault(`${name} must be a whole number from 0 to ${MAX_OUTPUT}`);
    }
    return value;
  });
}

export function flag(name: string, fallback?: boolean): Parameter<boolean> {
  return parameter(name, fallback, (value) => {
    if (typeof value !== 'boolean') throw new ExpressionFault(`${name} must be true or false`);
    return value;
  });
}

/** Exactly one character (one code point). */
export function character(name: string, fallback?: string): Parameter<string> {
  return parameter(name, fallback, (value) => {
    if (typeof value !== 'string' || [...value.slice(0, 3)].length !== 1) {
      throw new ExpressionFault(`${name} must be one character`);
    }
    return value;
  });
}

/** Up to 100 characters, each standing for itself. */
export function characters(name: string, fallback?: string): Parameter<string> {
  return parameter(name, fallback, (value) => {
    if (typeof value !== 'string' || value.length > 100) {
      throw new ExpressionFault(`${name} must be text of up to 100 characters`);
    }
    return value;
  });
}

/** Text that is not empty. */
export function text(name: string): Parameter<string> {
  return parameter(name, undefined, (value) => {
    if (typeof value !== 'string' || value === '') throw new ExpressionFault(`${name} must be text, not empty`);
    return value;
  });
}

export function oneOf<T extends string>(name: string, allowed: readonly T[]): Parameter<T> {
  return parameter(name, undefined, (value) => {
    const match = allowed.find((candidate) => candidate === value);
    if (match === undefined) throw new ExpressionFault(`${name} must be one of ${allowed.join(', ')}`);
    return match;
  });
}
