import type { TokenScope } from '../../data/token-filters.ts';
import type { AccessRule, Grants } from '../../domain/access.ts';
import type { Permission } from '../../domain/permissions.ts';

/** The tokens that a rule covers. */
export function scopeOf({ container, conditions }: AccessRule): TokenScope {
  if (container === undefined) return conditions ?? [];
  return [{ attribute: 'container', operator: 'starts_with', value: container }];
}

/**
 * The tokens that a permission reaches, as statements over many tokens narrow to them: the union of its rules, or all
 * where it is held plainly. It reaches the very tokens for which `decideAccess` gives a transform.
 */
export function scopesOf(grants: Grants, permission: Permission): 'all' | TokenScope[] {
  if (grants.permissions.includes(permission)) return 'all';
  return grants.rules.filter((rule) => rule.permissions.includes(permission)).map(scopeOf);
}
