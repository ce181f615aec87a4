import type { SearchAccess, TokenVerdict } from '../../data/token-tests.ts';
import { type AccessSubject, decideAccess, type Grants, type Transform, TRANSFORMS } from '../../domain/access.ts';
import type { Permission } from '../../domain/permissions.ts';
import { scopeOf, scopesOf } from './scopes.ts';

// Finding a token tells that it exists and what it is like, and a hit shows it: so both are asked of every token.
const NEEDED = ['token:search', 'token:read'] as const satisfies Permission[];

/** Whether the grant that decides lets more be seen of a token's data than nothing. */
function unredacted(grants: Grants, permission: Permission): TokenVerdict {
  return {
    cases: grants.rules
      .filter((rule) => rule.permissions.includes(permission))
      .map((rule) => ({ scope: scopeOf(rule), verdict: rule.transform !== 'redact' })),
    otherwise: true,
  };
}

/**
 * Which tokens the holder of these grants finds: those that it may both search and read. Where either grant redacts the
 * data, the search cannot tell what it is, or it could be guessed value by value.
 */
export function searchAccessOf(grants: Grants): SearchAccess {
  return {
    granted: NEEDED.map((permission) => scopesOf(grants, permission)),
    dataSearchable: NEEDED.map((permission) => unredacted(grants, permission)).filter(({ cases }) =>
      cases.some(({ verdict }) => !verdict),
    ),
  };
}

/** How a token that was found is shown: as the grant that shows less does. */
export function searchTransform(grants: Grants, subject: AccessSubject): Transform {
  const transforms = NEEDED.map((permission) => decideAccess(grants, permission, subject) ?? 'redact');
  return TRANSFORMS.find((transform) => transforms.includes(transform))!;
}
