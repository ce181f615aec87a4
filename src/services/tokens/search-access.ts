import type { DataSight, SearchAccess, SightDecision } from '../../data/token-tests.ts';
import {
  type AccessSubject,
  decideAccess,
  type Grants,
  type Transform,
  TRANSFORMS,
  transformOfPlain,
} from '../../domain/access.ts';
import type { Permission } from '../../domain/permissions.ts';
import { scopeOf, scopesOf } from './scopes.ts';

// Finding a token tells that it exists and what it is like, and a hit shows it: so both are asked of every token.
const NEEDED = ['token:search', 'token:read'] as const satisfies Permission[];

/** A mask shows nothing of a token that has none. */
const SIGHTS: Record<Transform, DataSight> = { redact: 'none', mask: 'masked', reveal: 'all' };

/** Of which tokens the grant that decides shows any data. */
function sightOf(grants: Grants, permission: Permission): SightDecision {
  return {
    cases: grants.rules
      .filter((rule) => rule.permissions.includes(permission))
      .map((rule) => ({ scope: scopeOf(rule), sight: SIGHTS[rule.transform] })),
    otherwise: SIGHTS[transformOfPlain(permission)],
  };
}

/**
 * Which tokens the holder of these grants finds: those that it may both search and read. Where either grant shows
 * nothing of the data, the search cannot tell what it is, or it could be guessed value by value.
 */
export function searchAccessOf(grants: Grants): SearchAccess {
  return {
    granted: NEEDED.map((permission) => scopesOf(grants, permission)),
    dataSearchable: NEEDED.map((permission) => sightOf(grants, permission)),
  };
}

/** How a token that was found is shown, as the grant that shows less does; undefined where one does not cover it. */
export function searchTransform(grants: Grants, subject: AccessSubject): Transform | undefined {
  const transforms = NEEDED.map((permission) => decideAccess(grants, permission, subject));
  if (transforms.includes(undefined)) return undefined;
  return TRANSFORMS.find((transform) => transforms.includes(transform));
}
