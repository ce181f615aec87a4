import type { AccessRule, Transform } from '../../src/domain/access.ts';
import type { Permission } from '../../src/domain/permissions.ts';

const TOKEN_PERMISSIONS: Permission[] = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'];

/** Rules that grant everything about tokens, container by container, in the order given. */
export function rulesFor(
  containers: Record<string, Transform>,
  permissions: Permission[] = TOKEN_PERMISSIONS,
): AccessRule[] {
  return Object.entries(containers).map(([container, transform], index) => ({
    ...{ priority: index + 1, container, transform, permissions },
  }));
}
