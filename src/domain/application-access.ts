import type { AccessRule } from './access.ts';
import { APPLICATION_LIMITS, type ApplicationType } from './applications.ts';
import { CONTAINER_FORM, isContainer, normalizeContainer } from './containers.ts';
import type { ViolationCollector } from './errors.ts';
import { isJsonObject, type Json } from './json.ts';
import { isPermission, mayHold, type Permission } from './permissions.ts';

/** Access as a caller wrote it: of the right JSON types, not yet checked against the rules of access. */
export interface RequestedAccess {
  type: ApplicationType;
  permissions: readonly string[];
  rules: readonly (Omit<AccessRule, 'permissions'> & { permissions: readonly string[] })[];
}

function checkPermissions(
  permissions: readonly string[],
  type: ApplicationType,
  path: string,
  violations: ViolationCollector,
): void {
  permissions.forEach((name, index) => {
    if (!isPermission(name)) violations.add(`${path}[${index}]`, 'is not a permission');
    else if (!mayHold(type, name))
      violations.add(`${path}[${index}]`, `must be one that a ${type} application may hold`);
  });
  if (new Set(permissions).size < permissions.length) violations.add(path, 'must not name a permission twice');
}

/** What a rule is scoped to, of whatever shape. */
interface Scope {
  readonly container?: unknown;
  readonly conditions?: unknown;
}

function checkScope({ container, conditions }: Scope, path: string, violations: ViolationCollector): void {
  if ((container === undefined) === (conditions === undefined)) {
    violations.add(path, 'must have either container or conditions');
  }
  if (typeof container === 'string' && !isContainer(normalizeContainer(container))) {
    violations.add(`${path}.container`, CONTAINER_FORM);
  }
  if (Array.isArray(conditions) && conditions.length === 0) violations.add(`${path}.conditions`, 'must not be empty');
}

/** Records what is wrong with the scopes of rules, whatever else may be: for rules that are not sound in shape. */
export function checkRuleScopes(rules: Json | undefined, violations: ViolationCollector): void {
  if (!Array.isArray(rules)) return;
  rules.forEach((rule, index) => {
    if (isJsonObject(rule)) checkScope(rule, `rules[${index}]`, violations);
  });
}

/**
 * Records every way in which the permissions and rules of an application break the rules of access
 * (choices, section 5).
 */
export function checkAccess(access: RequestedAccess, violations: ViolationCollector): void {
  if (access.permissions.length === 0 && access.rules.length === 0) {
    violations.add('permissions', 'must not be empty where rules is empty too');
  }
  checkDeclaredAccess(access, violations);
}

/**
 * As `checkAccess`, for what is declared: an application may have no access at all there, since its rules come and go
 * apart from it. Were that refused, the last rule to go would stay in force.
 */
export function checkDeclaredAccess(access: RequestedAccess, violations: ViolationCollector): void {
  const { type, permissions, rules } = access;
  if (permissions.length > APPLICATION_LIMITS.permissions) {
    violations.add('permissions', `must not have more than ${APPLICATION_LIMITS.permissions} entries`);
  }
  checkPermissions(permissions, type, 'permissions', violations);
  if (type === 'management' && rules.length > 0) violations.add('rules', 'must be empty for a management application');

  const priorities = new Set<number>();
  rules.forEach((rule, index) => {
    const path = `rules[${index}]`;
    checkScope(rule, path, violations);
    if (rule.permissions.length === 0) violations.add(`${path}.permissions`, 'must not be empty');
    if (type !== 'management') checkPermissions(rule.permissions, type, `${path}.permissions`, violations);
    if (priorities.has(rule.priority)) violations.add(`${path}.priority`, 'must be unique in the application');
    priorities.add(rule.priority);
  });
}

/** The stored form of checked rules: containers in their one spelling, in the order in which they are tried. */
export function normalizeRules(rules: RequestedAccess['rules']): AccessRule[] {
  return rules
    .map(({ description, priority, container, conditions, transform, permissions }) => ({
      ...(description === undefined ? {} : { description }),
      priority,
      ...(container === undefined ? {} : { container: normalizeContainer(container) }),
      ...(conditions === undefined ? {} : { conditions }),
      transform,
      permissions: permissions as Permission[],
    }))
    .sort((left, right) => left.priority - right.priority);
}
