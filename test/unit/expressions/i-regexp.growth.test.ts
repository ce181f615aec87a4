import { expect } from 'chai';
import { type CompiledPatterns, matchesPattern } from '../../../src/expressions/i-regexp.ts';
import { expandedSize } from '../../../src/expressions/pattern-size.ts';

/** What matching charges: the steps of a machine that is linear in the text. */
function chargedFor(text: string, pattern: string, patterns: CompiledPatterns = new Map()): number {
  let units = 0;
  matchesPattern(text, pattern, 'part', { patterns, charge: (more) => (units += more) });
  return units;
}

describe('the growth of regular expressions', () => {
  for (const pattern of [
    '(a+)+b',
    '(a*)*b',
    '(a|aa)+b',
    '(a|a?)+b',
    '(.*a){10}b',
    '([a-z]+)*\\d',
    '^(([a-z])+.)+[A-Z]b',
  ]) {
    it(`is linear in the text: ${pattern}`, () => {
      const patterns: CompiledPatterns = new Map();
      chargedFor('', pattern, patterns);
      const [once, twice, tenfold] = [1_000, 2_000, 10_000].map((length) =>
        chargedFor('a'.repeat(length), pattern, patterns),
      );
      expect(twice! / once!).to.be.closeTo(2, 0.1);
      expect(tenfold! / once!).to.be.closeTo(10, 0.2);
    });
  }

  it('compiles a pattern once for all nodes', () => {
    const patterns: CompiledPatterns = new Map();
    const first = chargedFor('a', '[a-z]{500}', patterns);
    expect(chargedFor('a', '[a-z]{500}', patterns)).to.be.lessThan(first / 5);
  });
});

describe('the size of a pattern', () => {
  const sizes: [pattern: string, size: number][] = [
    ['', 0],
    ['abc', 3],
    ['a{3}', 3],
    ['a{2,5}', 5],
    ['a{2,}', 2],
    ['(ab){10}', 30],
    ['((a{10}){10}){10}', 1_110],
    ['a{1000}b{1000}', 2_000],
    ['[a-z]{4}', 4],
    ['[]a]{4}', 4],
    ['[\\]a]{4}', 4],
    ['\\p{L}{4}', 4],
    ['\\x{10FFFF}{4}', 4],
    ['\\{4}', 3],
    ['a{x}', 4],
    ['(a{10', 4],
    ['a)){3}', 5],
  ];
  for (const [pattern, size] of sizes) {
    it(`is ${size} for ${pattern === '' ? 'nothing' : pattern}`, () => {
      expect(expandedSize(pattern)).to.equal(size);
    });
  }
});
