import { expect } from 'chai';
import fc from 'fast-check';
import { parseSearchQuery } from '../../../src/domain/search-query-parser.ts';
import type { SearchQuery, SearchTerm } from '../../../src/domain/search-query.ts';
import { anyQuery, printQuery } from '../../support/search-queries.ts';

/** A query as a fully parenthesized text over ids. */
function outline(query: SearchQuery | undefined): string {
  if (query === undefined) return '';
  if (query.kind === 'term') return query.term.field === 'id' ? query.term.value : query.term.field;
  if (query.kind === 'not') return `!${outline(query.query)}`;
  return `(${outline(query.left)} ${query.kind === 'and' ? '&' : '|'} ${outline(query.right)})`;
}

function termOf(text: string): SearchTerm {
  const query = parseSearchQuery(text);
  if (query?.kind !== 'term') throw new Error('not a term');
  return query.term;
}

describe('search queries', () => {
  for (const [text, expected] of [
    ['id:a', 'a'],
    ['  id:a\n', 'a'],
    ['((id:a))', 'a'],
    ['id:a AND id:b', '(a & b)'],
    ['id:a OR id:b AND id:c', '(a | (b & c))'],
    ['id:a AND id:b OR id:c', '((a & b) | c)'],
    ['(id:a OR id:b) AND id:c', '((a | b) & c)'],
    ['(id:a OR id:b)AND(id:c)', '((a | b) & c)'],
    ['id:a OR id:b OR id:c', '((a | b) | c)'],
    ['NOT id:a AND id:b', '(!a & b)'],
    ['NOT (id:a AND id:b)', '!(a & b)'],
    ['NOT NOT id:a', '!!a'],
    ['id:a AND NOT id:b', '(a & !b)'],
    ['id:a NOT id:b', '(a & !b)'],
    ['id:a OR id:b NOT NOT id:c NOT (id:d)', '(a | ((b & !!c) & !d))'],
    ['id:AND AND id:NOT', '(AND & NOT)'],
    ['', ''],
    [' \t\n ', ''],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(outline(parseSearchQuery(text))).to.equal(expected);
    });
  }

  for (const [text, expected] of [
    ['id:order-1@x:y', { field: 'id', value: 'order-1@x:y' }],
    ['id:"two words"', { field: 'id', value: 'two words' }],
    [String.raw`data:"a \"quoted\" \\ one"`, { field: 'data', value: String.raw`a "quoted" \ one` }],
    ['data:"AND (x) [y] * :"', { field: 'data', value: 'AND (x) [y] * :' }],
    ['data:" spaced "', { field: 'data', value: ' spaced ' }],
    ['type:card', { field: 'type', value: 'card' }],
    ['container:/PCI/High/', { field: 'container', value: '/pci/high/', isPrefix: false }],
    ['container:/', { field: 'container', value: '/', isPrefix: false }],
    ['container:/pci/*', { field: 'container', value: '/pci/', isPrefix: true }],
    ['container:/pci*', { field: 'container', value: '/pci', isPrefix: true }],
    ['container:"/pci/*"', { field: 'container', value: '/pci/', isPrefix: true }],
    ['fingerprint:abc', { field: 'fingerprint', value: 'abc' }],
    ['metadata.owner:Ann', { field: 'metadata', key: 'owner', value: 'Ann' }],
    ['metadata.a.b:"c d"', { field: 'metadata', key: 'a.b', value: 'c d' }],
    ['metadata."my key: \\"x\\"":v', { field: 'metadata', key: 'my key: "x"', value: 'v' }],
    [
      'created_by:E2934C29-e597-4290-9da9-920004ebb346',
      { field: 'created_by', value: 'e2934c29-e597-4290-9da9-920004ebb346' },
    ],
    [
      'created_at:[2026-01-02 TO 2026-01-03T04:05:06.789+01:00]',
      { field: 'created_at', from: new Date('2026-01-02T00:00:00Z'), to: new Date('2026-01-03T03:05:06.789Z') },
    ],
    ['created_at:[ "1/31/2030 11:59:59 PM" TO * ]', { field: 'created_at', from: new Date('2030-01-31T23:59:59Z') }],
    ['created_at:[* TO 1/31/2030]', { field: 'created_at', to: new Date('2030-01-31T00:00:00Z') }],
    ['created_at:[* TO *]', { field: 'created_at' }],
  ] as const) {
    it(`reads the term ${text}`, () => {
      expect(termOf(text)).to.deep.equal(expected);
    });
  }

  it('reads back every query that is written out', () => {
    fc.assert(
      fc.property(anyQuery, (query) => {
        const written = printQuery(query);
        const [read, again] = [parseSearchQuery(written)!, printQuery(parseSearchQuery(written)!)];
        expect(read).to.deep.equal(query);
        expect(again).to.equal(written);
      }),
      { numRuns: 2000 },
    );
  });
});
