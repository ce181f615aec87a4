import type { AccessRule } from '../../domain/access.ts';
import type { ApplicationDeclaration, DeclaredKey } from '../../domain/declarations.ts';
import type { ApplicationResource } from '../kinds/application.ts';

/** What the API is asked to hold for an Application. */
export function buildApplicationDeclaration(
  { metadata, spec }: ApplicationResource,
  rules: AccessRule[],
  keys: DeclaredKey[],
): ApplicationDeclaration {
  return {
    name: spec.displayName ?? metadata.name,
    type: spec.type,
    permissions: spec.permissions,
    rules,
    ...(spec.expiresAt === undefined ? {} : { expiresAt: new Date(spec.expiresAt).toISOString() }),
    keys,
  };
}
