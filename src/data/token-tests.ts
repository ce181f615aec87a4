import type { SearchTerm } from '../domain/search-query.ts';
import { allConditions, anyScope, type Parameters, type TokenScope } from './token-filters.ts';
import { foldMetadata } from './token-metadata.ts';

/** What a row is tested for: a term of a query with its secrets hashed. */
export type TokenTest =
  | Exclude<SearchTerm, { field: 'data' | 'fingerprint' }>
  | { readonly field: 'data'; readonly hash: Buffer }
  /** Null: no token has it. */
  | { readonly field: 'fingerprint'; readonly fingerprint: Buffer | null };

/** A test that a row must pass, or must fail. */
export interface TokenCriterion {
  readonly test: TokenTest;
  readonly isNegated: boolean;
}

/** Says yes or no to a token: as the first of the cases that covers it says, else as `otherwise` does. */
export interface TokenVerdict {
  readonly cases: readonly { readonly scope: TokenScope; readonly verdict: boolean }[];
  readonly otherwise: boolean;
}

/** Which tokens a search may find, and by what. */
export interface SearchAccess {
  /** Each must cover the token. */
  readonly granted: readonly ('all' | readonly TokenScope[])[];
  /** Where one says no, the token has no data as far as the search can tell. */
  readonly dataSearchable: readonly TokenVerdict[];
}

/** The condition under which `tokens t` is within reach of the search. */
export function grantedCondition({ granted }: SearchAccess, parameters: Parameters): string {
  const narrowing = granted.filter((scopes) => scopes !== 'all');
  return narrowing.length === 0 ? 'true' : narrowing.map((scopes) => anyScope(scopes, parameters)).join(' and ');
}

function verdictCondition({ cases, otherwise }: TokenVerdict, parameters: Parameters): string {
  // A scope without conditions covers nothing, as in decideAccess.
  const branches = cases
    .filter(({ scope }) => scope.length > 0)
    .map(({ scope, verdict }) => `when ${allConditions(scope, parameters)} then ${verdict}`);
  return branches.length === 0 ? String(otherwise) : `case ${branches.join(' ')} else ${otherwise} end`;
}

/** The condition under which tests for data see the data of `tokens t`. */
export function dataSearchableCondition({ dataSearchable }: SearchAccess, parameters: Parameters): string {
  return dataSearchable.map((verdict) => verdictCondition(verdict, parameters)).join(' and ') || 'true';
}

function rangeCondition({ from, to }: Extract<TokenTest, { field: 'created_at' }>, parameters: Parameters): string {
  const ends = [
    ...(from === undefined ? [] : [`t.created_at >= ${parameters.add(from)}::timestamptz`]),
    ...(to === undefined ? [] : [`t.created_at <= ${parameters.add(to)}::timestamptz`]),
  ];
  return ends.join(' and ') || 'true';
}

/** Related to the token by its id, so that Postgres never goes through all that have a frequent hash for each token. */
function hasHash(hash: Buffer, parameters: Parameters): string {
  return `exists (
          select from token_search_hashes h
          where h.tenant_id = $1 and h.token_id = t.token_id and h.hash = ${parameters.add(hash)})`;
}

function testCondition(test: TokenTest, dataSearchable: () => string, parameters: Parameters): string {
  switch (test.field) {
    case 'id':
      return `t.token_id = ${parameters.add(test.value)}`;
    case 'type':
      return `t.type = ${parameters.add(test.value)}`;
    case 'created_by':
      return `t.created_by = ${parameters.add(test.value)}::uuid`;
    case 'container':
      return test.isPrefix
        ? `starts_with(t.container, ${parameters.add(test.value)})`
        : `t.container = ${parameters.add(test.value)}`;
    case 'fingerprint':
      return test.fingerprint === null ? 'false' : `t.fingerprint = ${parameters.add(test.fingerprint)}`;
    case 'metadata':
      return `t.metadata_folded @> ${parameters.add(foldMetadata({ [test.key]: test.value }))}::jsonb`;
    case 'created_at':
      return rangeCondition(test, parameters);
    case 'data':
      return `${dataSearchable()} and ${hasHash(test.hash, parameters)}`;
  }
}

/**
 * The condition that a criterion stands for. The first of the statement's parameters is the tenant; `dataSearchable`
 * gives the condition under which tests for data see any.
 */
export function criterionCondition(
  { test, isNegated }: TokenCriterion,
  dataSearchable: () => string,
  parameters: Parameters,
): string {
  const condition = testCondition(test, dataSearchable, parameters);
  // Not `not`: a token without a fingerprint or metadata, which is neither true nor false, fails the test.
  return isNegated ? `(${condition}) is not true` : condition;
}
