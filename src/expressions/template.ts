import { DomainError } from '../domain/errors.ts';
import type { ViolationCollector } from '../domain/errors.ts';
import type { Json } from '../domain/json.ts';

/** What the expressions of a token's own attributes see. */
export interface DataScope {
  data: Json;
  metadata?: Record<string, string>;
}

/** True where the text holds at least one `{{ … }}`. */
export function containsExpression(text: string): boolean {
  return text.includes('{{');
}

/**
 * Evaluates every string of `template` that holds expressions, and returns the rest unchanged. Member names are never
 * evaluated. Throws 'invalid' under the property path of the first string that fails.
 */
export function evaluateTemplate(_template: Json, _scope: DataScope, _path = ''): Json {
  throw new DomainError('not-implemented', '');
}

/**
 * Evaluates one string: exactly one expression gives its typed JSON value, text around expressions gives a string, and
 * text without an expression is returned unchanged. What is missing is null, or nothing amid text.
 */
export function evaluateExpression(_expression: string, _scope: DataScope, _path = ''): Json {
  throw new DomainError('not-implemented', '');
}

/** Parses every expression of `template` without evaluating it, and records each fault under its property path. */
export function checkTemplate(_template: Json, _path: string, _violations: ViolationCollector): void {
  throw new DomainError('not-implemented', '');
}
