import type { Permission } from './permissions.ts';

export const TRANSFORMS = ['redact', 'mask', 'reveal'] as const;

/** How token data is shown: not at all, through the token's mask, or in plaintext. */
export type Transform = (typeof TRANSFORMS)[number];

export const CONDITION_ATTRIBUTES = ['id', 'container'] as const;
export const CONDITION_OPERATORS = ['starts_with', 'equals'] as const;

/** A test of one attribute of a token. */
export interface Condition {
  attribute: (typeof CONDITION_ATTRIBUTES)[number];
  operator: (typeof CONDITION_OPERATORS)[number];
  value: string;
}

/** Grants permissions on the tokens of a container (with its children), or on those that meet every condition. */
export interface AccessRule {
  description?: string;
  /** 1 or more; unique in an application; lower numbers are tried first. */
  priority: number;
  container?: string;
  conditions?: Condition[];
  transform: Transform;
  permissions: Permission[];
}

/** Who asks: the access of an application (or of a key that lives for one reactor invocation). */
export interface Grants {
  permissions: readonly Permission[];
  /** In ascending priority. */
  rules: readonly AccessRule[];
}

/** The attributes of a token that decide about access to it. */
export interface AccessSubject {
  id: string;
  container: string;
}

/** Whether `container` is `scope` or below it. Paths end in a slash; letters compare in lower case. */
export function isWithin(container: string, scope: string): boolean {
  return container.toLowerCase().startsWith(scope.toLowerCase());
}

function conditionHolds(condition: Condition, subject: AccessSubject): boolean {
  const fold = (text: string) => (condition.attribute === 'container' ? text.toLowerCase() : text);
  const actual = fold(subject[condition.attribute]);
  const wanted = fold(condition.value);
  return condition.operator === 'equals' ? actual === wanted : actual.startsWith(wanted);
}

function ruleCovers(rule: AccessRule, subject: AccessSubject): boolean {
  if (rule.container !== undefined) return isWithin(subject.container, rule.container);
  return (
    (rule.conditions ?? []).length > 0 && rule.conditions!.every((condition) => conditionHolds(condition, subject))
  );
}

/** How a plain permission shows data: through masks; `token:use` hands plaintext to code. */
export function transformOfPlain(permission: Permission): Transform {
  return permission === 'token:use' ? 'reveal' : 'mask';
}

/**
 * The transform under which `permission` is granted on a token, or undefined when it is not granted.
 *
 * The first rule, in ascending priority, that lists the permission and covers the token decides. Where none does, a
 * plain permission of the application applies to every container.
 */
export function decideAccess(grants: Grants, permission: Permission, subject: AccessSubject): Transform | undefined {
  for (const rule of grants.rules) {
    if (rule.permissions.includes(permission) && ruleCovers(rule, subject)) return rule.transform;
  }
  return grants.permissions.includes(permission) ? transformOfPlain(permission) : undefined;
}

/** Whether the permission is granted on some container at all: what a route asks before it knows the token. */
export function holdsAnywhere(grants: Grants, permission: Permission): boolean {
  return grants.permissions.includes(permission) || grants.rules.some((rule) => rule.permissions.includes(permission));
}
