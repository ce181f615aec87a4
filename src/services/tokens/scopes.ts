import type { TokenScope } from '../../data/token-filters.ts';
import type { Grants } from '../../domain/access.ts';
import type { Permission } from '../../domain/permissions.ts';

/**
 * The tokens that a permission reaches, as statements over many tokens narrow to them: the union of its rules, or all
 * where it is held plainly. It reaches the very tokens for which `decideAccess` gives a transform.
 */
export function scopesOf(grants: Grants, permission: Permission): 'all' | TokenScope[] {
  if (grants.permissions.includes(permission)) return 'all';
  return grants.rules
    .filter((rule) => rule.permissions.includes(permission))
    .map(({ container, conditions }) =>
      container === undefined
        ? (conditions ?? [])
        : [{ attribute: 'container', operator: 'starts_with', value: container }],
    );
}
