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
    return template.map((element, index) => mapStrings(element, shortPath(path, index), transform, depth + 1));
  }
  // fromEntries defines members, where an assignment to `__proto__` would set the prototype.
  return Object.fromEntries(
    Object.entries(template).map(([name, member]) => [
      name,
      mapStrings(member, shortPath(path, name), transform, depth + 1),
    ]),
  );
}

/**
 * Calls `visit` for each string of `template` and records what it throws under the string's property path, which is cut
 * to MAX_PATH_LENGTH. Stops after MAX_FAULTS of them: a template with more has one mistake many times.
 */
export function visitStrings(
  template: Json,
  path: string,
  violations: ViolationCollector,
  visit: (text: string, path: string) => void,
): void {
  let faults = 0;
  everyString(template, path, 0, (at, text) => {
    try {
      if (text === undefined) throw new ExpressionFault(TOO_DEEP);
      visit(text, at);
    } catch (error) {
      violations.add(at, faultMessage(error, UNREADABLE));
      faults++;
    }
    return faults < MAX_FAULTS;
  });
}

/**
 * Calls `visit` with the property path of each string of a template, and with the string but where it is nested too
 * deeply to be read. Stops, and gives false, once `visit` does.
 */
function everyString(
  template: Json,
  path: string,
  depth: number,
  visit: (path: string, text: string | undefined) => boolean,
): boolean {
  if (typeof template === 'string') return visit(path, template);
  if (typeof template !== 'object' || template === null) return true;
  if (depth >= JSON_DEPTH) return visit(path, undefined);
  if (Array.isArray(template)) {
    return template.every((element, index) => everyString(element, shortPath(path, index), depth + 1, visit));
  }
  return Object.entries(template).every(([name, member]) =>
    everyString(member, shortPath(path, name), depth + 1, visit),
  );
}

/** Cut at every level: a name of half a megabyte would be copied into the path of each of a hundred thousand elements. */
function shortPath(path: string, key: string | number): string {
  return path.length >= MAX_PATH_LENGTH ? path : childPath(path, key).slice(0, MAX_PATH_LENGTH);
}

const MAX_FAULTS = 100;
/** A property's path holds member names, which are as long as the caller likes. */
const MAX_PATH_LENGTH = 200;
const TOO_DEEP = `must not be nested deeper than ${JSON_DEPTH} levels`;
const UNREADABLE = 'has an expression that cannot be read';

function invalidExpression(path: string, error: unknown): DomainError {
  const message = faultMessage(error, UNREADABLE);
  return new DomainError('invalid', 'An expression cannot be evaluated.', {
    violations: { [path]: [message] },
  });
}
