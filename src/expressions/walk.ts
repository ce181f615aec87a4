import { DomainError, type ViolationCollector } from '../domain/errors.ts';
import { childPath, JSON_DEPTH } from '../domain/json-guard.ts';
import type { Json } from '../domain/json.ts';
import { ExpressionFault, faultMessage } from './fault.ts';
import type { Budget } from './limits.ts';

const MAX_FAULTS = 100;
/** A property's path holds member names, which are as long as the caller likes. */
const MAX_PATH_LENGTH = 200;
/** Members of one object of a template: copying an object costs far more for each than copying an array does. */
const MAX_MEMBERS = 20_000;
const TOO_DEEP = `must not be nested deeper than ${JSON_DEPTH} levels`;
const TOO_WIDE = `must not have objects of more than ${MAX_MEMBERS} members`;
const UNREADABLE = 'has an expression that cannot be read';

/** Where an array or object of a template lies. Paths are put together where they are asked for: most never are. */
interface Place {
  readonly key: string | number;
  readonly parent?: Place;
}

/**
 * Copies `template`, replacing each string by what `transform` makes of it; member names stay. Throws 'invalid' under
 * the property path of the first string that fails, or where the template is larger than `budget` allows.
 */
export function mapStrings(template: Json, path: string, budget: Budget, transform: (text: string) => Json): Json {
  const map = (value: Json, place: Place, depth: number): Json => {
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= JSON_DEPTH) throw new ExpressionFault(TOO_DEEP);
    const mapChild = (child: Json, key: string | number): Json => {
      if (typeof child !== 'string' && (typeof child !== 'object' || child === null)) return child;
      try {
        return typeof child === 'string' ? transform(child) : map(child, { key, parent: place }, depth + 1);
      } catch (error) {
        throw invalidAt({ key, parent: place }, error);
      }
    };
    if (Array.isArray(value)) {
      budget.walk(value.length);
      return value.map(mapChild);
    }
    const names = Object.keys(value);
    if (names.length > MAX_MEMBERS) throw new ExpressionFault(TOO_WIDE);
    budget.walk(names.length);
    // fromEntries defines members, where an assignment to `__proto__` would set the prototype.
    return Object.fromEntries(names.map((name) => [name, mapChild(value[name]!, name)]));
  };
  const root: Place = { key: path };
  try {
    return typeof template === 'string' ? transform(template) : map(template, root, 0);
  } catch (error) {
    throw invalidAt(root, error);
  }
}

/**
 * Calls `visit` for each string of `template`, with what gives its property path, and records what it throws under that
 * path. Stops after MAX_FAULTS of them: a template with more has one mistake many times.
 */
export function visitStrings(
  template: Json,
  path: string,
  violations: ViolationCollector,
  visit: (text: string, path: () => string) => void,
): void {
  let faults = 0;
  const visitAt = (value: Json, place: () => Place, depth: number): boolean => {
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return true;
    try {
      if (typeof value === 'string') visit(value, () => pathOf(place()));
      else if (depth >= JSON_DEPTH) throw new ExpressionFault(TOO_DEEP);
    } catch (error) {
      violations.add(pathOf(place()), faultMessage(error, UNREADABLE));
      faults++;
      return faults < MAX_FAULTS;
    }
    if (typeof value === 'string') return true;
    const parent = place();
    if (Array.isArray(value)) {
      return value.every((element, index) => visitAt(element, () => ({ key: index, parent }), depth + 1));
    }
    return Object.keys(value).every((name) => visitAt(value[name]!, () => ({ key: name, parent }), depth + 1));
  };
  visitAt(template, () => ({ key: path }), 0);
}

/**
 * Cut at every level to MAX_PATH_LENGTH: a name of half a megabyte would be copied into the path of each of a hundred
 * thousand elements.
 */
function pathOf({ key, parent }: Place): string {
  return (parent === undefined ? String(key) : childPath(pathOf(parent), key)).slice(0, MAX_PATH_LENGTH);
}

/** As it is where it was thrown further inside. */
function invalidAt(place: Place, error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  return new DomainError('invalid', 'An expression cannot be evaluated.', {
    violations: { [pathOf(place)]: [faultMessage(error, UNREADABLE)] },
  });
}
