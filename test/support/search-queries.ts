import fc from 'fast-check';
import type { SearchQuery, SearchTerm } from '../../src/domain/search-query.ts';
import { TOKEN_TYPE_NAMES } from '../../src/domain/token-types.ts';

/** Queries of every form, and their text: the reverse of the parser. */

const BARE = /^[^\s()":[\]*\\]+$/;

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

function valueOf(text: string): string {
  return BARE.test(text) ? text : quoted(text);
}

function printTerm(term: SearchTerm): string {
  switch (term.field) {
    case 'container':
      return `container:${term.value}${term.isPrefix ? '*' : ''}`;
    case 'metadata':
      return `metadata.${valueOf(term.key)}:${valueOf(term.value)}`;
    case 'created_at':
      return `created_at:[${term.from?.toISOString() ?? '*'} TO ${term.to?.toISOString() ?? '*'}]`;
    default:
      return `${term.field}:${valueOf(term.value)}`;
  }
}

/** With the parentheses that are needed to read it back as it is, and no other. */
export function printQuery(query: SearchQuery): string {
  const inside = (part: SearchQuery, ...loose: SearchQuery['kind'][]) =>
    loose.includes(part.kind) ? `(${printQuery(part)})` : printQuery(part);
  switch (query.kind) {
    case 'term':
      return printTerm(query.term);
    case 'not':
      return `NOT ${inside(query.query, 'and', 'or')}`;
    case 'and':
      return `${inside(query.left, 'or')} AND ${inside(query.right, 'or', 'and')}`;
    case 'or':
      return `${inside(query.left)} OR ${inside(query.right, 'or')}`;
  }
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const instant = fc.date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true });
const segment = fc.stringMatching(/^[a-z0-9_-]{1,5}$/);

const term: fc.Arbitrary<SearchTerm> = fc.oneof(
  fc.record({ field: fc.constantFrom('id', 'data', 'fingerprint'), value: text }),
  fc.record({ field: fc.constant('type'), value: fc.constantFrom(...TOKEN_TYPE_NAMES) }),
  fc.record({ field: fc.constant('created_by'), value: fc.uuid() }),
  fc.record({
    field: fc.constant('container'),
    value: fc.array(segment, { maxLength: 3 }).map((parts) => `/${parts.map((part) => `${part}/`).join('')}`),
    isPrefix: fc.boolean(),
  }),
  fc.record({ field: fc.constant('metadata'), key: text, value: text }),
  fc.tuple(instant, instant).map(([one, other]) => ({
    field: 'created_at' as const,
    ...(one < other ? { from: one, to: other } : { from: one }),
  })),
);

/** Small enough for its alternatives to be few. */
export const anyQuery: fc.Arbitrary<SearchQuery> = fc.letrec<{ query: SearchQuery }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'query' },
    fc.record({ kind: fc.constant('term' as const), term }),
    fc.record({ kind: fc.constant('not' as const), query: tie('query') }),
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), left: tie('query'), right: tie('query') }),
  ),
})).query;
