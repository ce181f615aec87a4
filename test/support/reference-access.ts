/**
 * The access decision once more, written from the specification alone, to hold the real one against.
 *
 * It is as slow and as plain as can be: containers are lists of folders, text is walked letter by letter, and the
 * rule of the highest precedence is found by asking each rule whether another one comes before it. Nothing of src/ is
 * used, so that no mistake can be shared.
 */

export interface ReferenceCondition {
  readonly attribute: 'id' | 'container';
  readonly operator: 'starts_with' | 'equals';
  readonly value: string;
}

export interface ReferenceRule {
  readonly priority: number;
  readonly container?: string;
  readonly conditions?: readonly ReferenceCondition[];
  readonly transform: 'redact' | 'mask' | 'reveal';
  readonly permissions: readonly string[];
}

export interface ReferenceHolder {
  readonly permissions: readonly string[];
  readonly rules: readonly ReferenceRule[];
}

export interface ReferenceToken {
  readonly id: string;
  readonly container: string;
}

/** `by` is the priority of the rule that decided, or `permission` where no rule did. */
export type ReferenceVerdict =
  | { readonly allowed: false }
  | { readonly allowed: true; readonly transform: string; readonly by: number | 'permission' };

const IMPLIED_TRANSFORM = new Map([
  ['token:create', 'mask'],
  ['token:read', 'mask'],
  ['token:update', 'mask'],
  ['token:search', 'mask'],
  ['token:use', 'reveal'],
]);

/** What `holder` may do to `token` by `permission`. Where a permission implies no transform, `transform` is `none`. */
export function judge(holder: ReferenceHolder, permission: string, token: ReferenceToken): ReferenceVerdict {
  const candidates = holder.rules.filter((rule) => rule.permissions.includes(permission) && covers(rule, token));
  for (const rule of candidates) {
    const isBeaten = candidates.some((other) => other.priority < rule.priority);
    if (!isBeaten) return { allowed: true, transform: rule.transform, by: rule.priority };
  }
  if (!holder.permissions.includes(permission)) return { allowed: false };
  return { allowed: true, transform: IMPLIED_TRANSFORM.get(permission) ?? 'none', by: 'permission' };
}

/** Whether there is any place where `holder` might do what `permission` allows. */
export function mayEver(holder: ReferenceHolder, permission: string): boolean {
  const grants = [...holder.permissions];
  for (const rule of holder.rules) grants.push(...rule.permissions);
  return grants.indexOf(permission) >= 0;
}

function covers(rule: ReferenceRule, token: ReferenceToken): boolean {
  if (rule.container !== undefined) return liesWithin(folders(token.container), folders(rule.container));
  // A rule without any condition is refused when it is made; one that came to be all the same opens nothing.
  if (rule.conditions === undefined || rule.conditions.length === 0) return false;
  let unmet = rule.conditions.length;
  for (const condition of rule.conditions) if (isMet(condition, token)) unmet -= 1;
  return unmet === 0;
}

function folders(container: string): string[] {
  return container
    .toLowerCase()
    .split('/')
    .filter((folder) => folder !== '');
}

function liesWithin(path: readonly string[], ancestor: readonly string[]): boolean {
  const [head, ...rest] = ancestor;
  if (head === undefined) return true;
  const [own, ...below] = path;
  return own === head && liesWithin(below, rest);
}

function isMet(condition: ReferenceCondition, token: ReferenceToken): boolean {
  const isPath = condition.attribute === 'container';
  const actual = [...(isPath ? token.container.toLowerCase() : token.id)];
  const wanted = [...(isPath ? condition.value.toLowerCase() : condition.value)];
  if (condition.operator === 'equals' && actual.length !== wanted.length) return false;
  return wanted.every((letter, place) => actual[place] === letter);
}
