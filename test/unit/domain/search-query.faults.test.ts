import { expect } from 'chai';
import fc from 'fast-check';
import { DomainError } from '../../../src/domain/errors.ts';
import { parseSearchQuery } from '../../../src/domain/search-query-parser.ts';
import { SEARCH_LIMITS } from '../../../src/domain/search-query.ts';
import { anyQuery, printQuery } from '../../support/search-queries.ts';

/** The faults that a query is refused for. */
function faultsOf(text: string): string[] {
  try {
    parseSearchQuery(text);
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error;
    expect(Object.keys(error.violations!)).to.deep.equal(['query']);
    return error.violations!['query']!;
  }
  return [];
}

const VALUE = 'must have a value with * or \\ in quotation marks; as a wildcard, * is for containers alone';
const CONTAINER = 'must name a container such as /pci/high/, or the beginning of some, such as /pci/*';
const FIELDS =
  'must have one of the fields id, data, type, container, fingerprint, metadata.<key>, created_by, created_at';
const TERM = 'must have a field, a colon and a value in each term';
const RANGE = 'must write a range as [<from> TO <to>]';

describe('faulty search queries', () => {
  for (const [text, ...expected] of [
    ['4242424242424242', `${TERM} (character 1)`],
    ['"a phrase"', `${TERM} (character 1)`],
    ['id', `${TERM} (character 1)`],
    ['id:', 'must have a value after the colon (character 4)'],
    ['id: a', 'must have a value after the colon (character 4)', `${TERM} (character 5)`, 'AND or OR (character 5)'],
    ['id:""', 'must not have an empty value (character 4)'],
    ['id:"a', 'must close the quotation mark that opens (character 4)'],
    ['id:"a\\', 'must close the quotation mark that opens (character 4)'],
    ['id:"a\\b"', 'must have a backslash in quotation marks only before " or \\ (character 6)'],
    ['id:a\\ b', `${VALUE} (character 4)`, `${TERM} (character 7)`, 'AND or OR (character 7)'],
    ['id:a*', `${VALUE} (character 4)`],
    ['metadata.a:b*', `${VALUE} (character 12)`],
    ['metadata.:b', 'must have a key after "metadata." (character 1)'],
    ['metadata."":b', 'must have a key after "metadata." (character 1)'],
    ['metadata:b', `${FIELDS} (character 1)`],
    ['Id:a', `${FIELDS} (character 1)`],
    ['constructor:a', `${FIELDS} (character 1)`],
    ['-id:a', `${FIELDS} (character 1)`],
    [':a', `${FIELDS} (character 1)`],
    ['container:pci', `${CONTAINER} (character 11)`],
    ['container:/pci', `${CONTAINER} (character 11)`],
    ['container:*', `${CONTAINER} (character 11)`],
    ['container:/a/*/b/', `${CONTAINER} (character 11)`],
    ['container:/a%*', `${CONTAINER} (character 11)`],
    ['created_by:me', 'must name an application by its UUID (character 12)'],
    ['created_at:2026-01-01', 'must have a range for created_at, written [<from> TO <to>] (character 12)'],
    ['created_at:[2026-01-01]', `${RANGE} (character 12)`],
    ['created_at:[a TO', `${RANGE} (character 12)`],
    ['created_at:[* TO *', `${RANGE} (character 12)`],
    ['created_at:[2026-01-01 to 2026-01-02]', `${RANGE} (character 12)`],
    ['created_at:[2026-01-02 TO 2026-01-01]', 'must have a range that begins before it ends (character 12)'],
    ['id:[a TO b]', 'must have a range for created_at alone (character 4)'],
    ['id:a id:b', 'must have AND or OR between terms (character 6)'],
    ['id:a and id:b', `${TERM} (character 6)`, 'AND or OR (character 6)', 'AND or OR (character 10)'],
    ['AND', 'must have a term (character 1)', 'must have a term (character 4)'],
    ['id:a AND', 'must have a term (character 9)'],
    ['OR id:a', 'must have a term (character 1)'],
    ['NOT', 'must have a term (character 4)'],
    ['()', 'must have a term (character 2)'],
    ['(id:a', 'must close the parenthesis that opens (character 1)'],
    ['id:a)', 'must open every parenthesis that it closes (character 5)'],
    ['id:a) AND id:b) OR id:c', ...[5, 15].map((at) => `must open every parenthesis that it closes (character ${at})`)],
  ] as const) {
    it(`are refused: ${text}`, () => {
      expect(faultsOf(text)).to.deep.equal(
        expected.map((fault) => fault.replace(/^AND or OR/, 'must have AND or OR between terms')),
      );
    });
  }

  it('name the types that there are', () => {
    const [fault] = faultsOf('type:cards');
    expect(fault).to.match(/^must name a type of tokens: token, card, .* \(character 6\)$/);
  });

  it('name the ways to write an instant', () => {
    const [fault] = faultsOf('created_at:[2026-02-30 TO *]');
    expect(fault).to.match(/ISO 8601 .* month\/day\/year .* \(character 12\)$/);
  });

  it('tell all their faults at once', () => {
    expect(faultsOf('(type:x AND id:"\\n" OR created_by:me')).to.have.length(4);
  });

  it('are those that write out to too many cases', () => {
    const cases = (pairs: number) => Array<string>(pairs).fill('(id:a OR id:b)').join(' AND ');
    expect(faultsOf(cases(5))).to.deep.equal([]);
    expect(faultsOf(cases(6))).to.deep.equal(['must combine less: written out, it is more than 32 cases']);
    expect(faultsOf(`NOT (${cases(6)})`)).to.deep.equal([]);
  });

  it('are never those with as many terms as a query can hold', () => {
    const query = Array<string>(Math.floor((SEARCH_LIMITS.queryLength + 4) / 8))
      .fill('id:a')
      .join(' OR ');
    expect(query.length).to.be.at.most(SEARCH_LIMITS.queryLength);
    expect(faultsOf(query)).to.deep.equal([]);
  });

  const pieces = fc.constantFrom(
    ...['(', ')', '"', '\\', ':', '[', ']', '*', ' ', 'TO', 'AND', 'OR', 'NOT', 'id', 'data', 'metadata.', 'type:card'],
    ...['created_at:', 'container:/', 'x', '\n', '\u{1f512}'],
  );
  const junk = fc.oneof(
    fc.string({ unit: 'binary', maxLength: SEARCH_LIMITS.queryLength }),
    fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('').slice(0, SEARCH_LIMITS.queryLength)),
  );

  it('fail in no other way, whatever they are made of', () => {
    fc.assert(
      fc.property(junk, (text) => {
        for (const fault of faultsOf(text)) expect(fault).to.match(/^must .*(?:\(character \d+\)|32 cases)$/);
      }),
      { numRuns: 5000 },
    );
  });

  it('lie within the query or right behind it', () => {
    fc.assert(
      fc.property(junk, (text) => {
        for (const fault of faultsOf(text)) {
          const position = Number(/\(character (\d+)\)$/.exec(fault)?.[1] ?? 1);
          expect(position).to.be.within(1, text.length + 1);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('repeat nothing of what was searched for', () => {
    const secret = '4242x4242x4242';
    const broken = fc
      .tuple(anyQuery, fc.nat(), fc.constantFrom('', '(', '"', ':', ' ', '*', '\\'))
      .map(([query, at, piece]) => {
        const text = printQuery(query).replaceAll(/(?<=(?:id|data|fingerprint|created_by|type):)[^\s()]+/g, secret);
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + piece + secret + piece + text.slice(cut);
      });
    fc.assert(
      fc.property(broken, (text) => {
        expect(faultsOf(text).join()).not.to.contain('4242');
      }),
      { numRuns: 2000 },
    );
  });
});
