import { DomainError, type ViolationCollector } from '../domain/errors.ts';
import { childPath, JSON_DEPTH } from '../domain/json-guard.ts';
import type { Json } from '../domain/json.ts';
import { ExpressionFault, faultMessage } from './fault.ts';

/**
 * Copies `template`, replacing each string by what `transform` makes of it; member names stay. Throws 'invalid' under the
 * property path of the first string that fails.
 */
export function mapStrings(template: Json, path: string, transform: (text: string) => Json, depth = 0): Json {
  if (typeof template === 'string') {
    try {
      return transform(template);
    } catch (error) {
      throw invalidExpression(path, error);
    }
  }
  if (typeof template !== 'object' || template === null) return template;
  if (depth >= JSON_DEPTH) throw invalidExpression(path, new ExpressionFault(TOO_DEEP));
  if (Array.isArray(template)) {
    return template.map((element, index) => mapStrings(element, childPath(path, index), transform, depth + 1));
  }
  // fromEntries defines members, where an assignment to `__proto__` would set the prototype.
  return Object.fromEntries(
    Object.entries(template).map(([name, member]) => [
      name,
      mapStrings(member, childPath(path, name), transform, depth + 1),
    ]),
  );
}

/** Calls `visit` for each string of `template` and records what it throws under the string's property path. */
export function visitStrings(
  template: Json,
  path: string,
  violations: ViolationCollector,
  visit: (text: string) => void,
  depth = 0,
): void {
  if (typeof template === 'string') {
    try {
      visit(template);
    } catch (error) {
      violations.add(path, faultMessage(error, UNREADABLE));
    }
  } else if (typeof template === 'object' && template !== null) {
    if (depth >= JSON_DEPTH) violations.add(path.slice(0, 200), TOO_DEEP);
    else if (Array.isArray(template)) {
      template.forEach((element, index) => visitStrings(element, childPath(path, index), violations, visit, depth + 1));
    } else {
      for (const [name, member] of Object.entries(template)) {
        visitStrings(member, childPath(path, name), violations, visit, depth + 1);
      }
    }
  }
}

const TOO_DEEP = `must not be nested deeper than ${JSON_DEPTH} levels`;
const UNREADABLE = 'has an expression that cannot be read';

function invalidExpression(path: string, error: unknown): DomainError {
  const message = faultMessage(error, UNREADABLE);
  return new DomainError('invalid', 'An expression cannot be evaluated.', {
    violations: { [path.slice(0, 200)]: [message] },
  });
}
