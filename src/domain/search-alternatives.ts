import type { SearchQuery, SearchTerm } from './search-query.ts';

/** A term that must hold, or must not. */
export interface SearchLiteral {
  readonly term: SearchTerm;
  readonly isNegated: boolean;
}

/**
 * The query written out as alternatives: a token meets it where it meets every literal of one of them (disjunctive
 * normal form). Each alternative is a conjunction, for which one index can be chosen; for an OR none can.
 */
export function alternativesOf(query: SearchQuery, isNegated = false): SearchLiteral[][] {
  switch (query.kind) {
    case 'term':
      return [[{ term: query.term, isNegated }]];
    case 'not':
      return alternativesOf(query.query, !isNegated);
    default: {
      const left = alternativesOf(query.left, isNegated);
      const right = alternativesOf(query.right, isNegated);
      // What is not both is not the one or not the other.
      if ((query.kind === 'or') !== isNegated) return [...left, ...right];
      return left.flatMap((one) => right.map((other) => [...one, ...other]));
    }
  }
}
