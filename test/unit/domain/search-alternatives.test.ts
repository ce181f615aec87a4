import { expect } from 'chai';
import fc from 'fast-check';
import { alternativesOf } from '../../../src/domain/search-alternatives.ts';
import { parseSearchQuery } from '../../../src/domain/search-query-parser.ts';
import type { SearchQuery, SearchTerm } from '../../../src/domain/search-query.ts';
import { anyQuery } from '../../support/search-queries.ts';

function written(text: string): string[] {
  return alternativesOf(parseSearchQuery(text)!).map((literals) =>
    literals.map(({ term, isNegated }) => `${isNegated ? '!' : ''}${'value' in term ? term.value : ''}`).join(' '),
  );
}

function holds(query: SearchQuery, truth: (term: SearchTerm) => boolean): boolean {
  switch (query.kind) {
    case 'term':
      return truth(query.term);
    case 'not':
      return !holds(query.query, truth);
    case 'and':
      return holds(query.left, truth) && holds(query.right, truth);
    case 'or':
      return holds(query.left, truth) || holds(query.right, truth);
  }
}

describe('the alternatives of a search query', () => {
  for (const [query, expected] of [
    ['id:a', ['a']],
    ['id:a AND id:b', ['a b']],
    ['id:a OR id:b', ['a', 'b']],
    ['id:a AND (id:b OR id:c)', ['a b', 'a c']],
    ['NOT (id:a OR id:b)', ['!a !b']],
    ['NOT (id:a AND NOT id:b)', ['!a', 'b']],
  ] as const) {
    it(`of ${query} are ${expected.join(', or ')}`, () => {
      expect(written(query)).to.deep.equal(expected);
    });
  }

  it('hold where the query does, whichever of its terms hold', () => {
    fc.assert(
      fc.property(anyQuery, fc.func(fc.boolean()), (query, truth) => {
        const some = alternativesOf(query).some((literals) =>
          literals.every(({ term, isNegated }) => truth(term) !== isNegated),
        );
        expect(some).to.equal(holds(query, truth));
      }),
      { numRuns: 1000 },
    );
  });
});
