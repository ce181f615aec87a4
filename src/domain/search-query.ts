/**
 * The tokens that a search asks for, as its query is read.
 *
 *     query = or ;  or = and { "OR" and } ;  and = not { "AND" not | "NOT" not } ;  not = { "NOT" } ( "(" or ")" | term )
 *     term  = field ":" ( word | phrase ) | "created_at:[" bound "TO" bound "]"
 */
export type SearchQuery =
  | { readonly kind: 'term'; readonly term: SearchTerm }
  | { readonly kind: 'not'; readonly query: SearchQuery }
  | { readonly kind: 'and' | 'or'; readonly left: SearchQuery; readonly right: SearchQuery };

/** A test of one token. */
export type SearchTerm =
  | { readonly field: 'id' | 'type' | 'created_by'; readonly value: string }
  /** One of the values of its search indexes, exactly. Plaintext: for the keyed hash alone. */
  | { readonly field: 'data'; readonly value: string }
  | { readonly field: 'fingerprint'; readonly value: string }
  /** In lower case; with `isPrefix`, what begins like this. */
  | { readonly field: 'container'; readonly value: string; readonly isPrefix: boolean }
  /** Key and value compare without regard to case. */
  | { readonly field: 'metadata'; readonly key: string; readonly value: string }
  /** Both ends belong to it; without one, it is open there. */
  | { readonly field: 'created_at'; readonly from?: Date; readonly to?: Date };

export const SEARCH_LIMITS = {
  /** Characters of a query, which bounds its terms and their nesting too. */
  queryLength: 200,
  /** Ways in which a token can meet a query: each is a statement of its own, over an index of its own. */
  alternatives: 32,
  /** Tokens that numbered pages reach, and count. */
  reach: 10_000,
} as const;

/** The fields of terms, as a caller is told about them. */
export const SEARCH_FIELDS = 'id, data, type, container, fingerprint, metadata.<key>, created_by, created_at';
