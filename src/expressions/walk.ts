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

/**
 * Calls `visit` for each string of `template` and records what it throws under the string's property path, which is cut
 * to MAX_PATH_LENGTH. Stops after
 * MAX_FAULTS of them: a template with more has one mistake many times.
 */
export function visitStrings(
  template: Json,
  path: string,
  violations: ViolationCollector,
  visit: (text: string, path: string) => void,
): void {
  let faults = 0;
  for (const found of stringsIn(template, path, 0)) {
    const at = found.path.slice(0, MAX_PATH_LENGTH);
    try {
      if (found.text === undefined) throw new ExpressionFault(TOO_DEEP);
      visit(found.text, at);
    } catch (error) {
      violations.add(at, faultMessage(error, UNREADABLE));
      if (++faults === MAX_FAULTS) return;
    }
  }
}

/** The strings of a template with their property paths; without a text where it is nested too deeply to be read. */
function* stringsIn(template: Json, path: string, depth: number): Generator<{ path: string; text?: string }> {
  if (typeof template === 'string') yield { path, text: template };
  if (typeof template !== 'object' || template === null) return;
  if (depth >= JSON_DEPTH) {
    yield { path };
  } else if (Array.isArray(template)) {
    for (const [index, element] of template.entries()) yield* stringsIn(element, childPath(path, index), depth + 1);
  } else {
    for (const [name, member] of Object.entries(template)) yield* stringsIn(member, childPath(path, name), depth + 1);
  }
}

const MAX_FAULTS = 100;
/** A property's path holds member names, which are as long as the caller likes. */
const MAX_PATH_LENGTH = 200;
const TOO_DEEP = `must not be nested deeper than ${JSON_DEPTH} levels`;
const UNREADABLE = 'has an expression that cannot be read';

function invalidExpression(path: string, error: unknown): DomainError {
  const message = faultMessage(error, UNREADABLE);
  return new DomainError('invalid', 'An expression cannot be evaluated.', {
    violations: { [path.slice(0, MAX_PATH_LENGTH)]: [message] },
  });
}
