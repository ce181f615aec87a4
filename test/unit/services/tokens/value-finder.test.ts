import { expect } from 'chai';
import fc from 'fast-check';
import { createValueFinder } from '../../../../src/services/tokens/value-finder.ts';

const NUMBER = '4242424242424243';

describe('a finder of a value in text', () => {
  const isIn = createValueFinder(NUMBER)!;

  for (const text of [
    NUMBER,
    `card ${NUMBER}, valid`,
    '4242-4242-4242-4243',
    '4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 3',
    [...NUMBER].join('😀'),
    [...NUMBER].join('\n\u0000\ud800'),
    `42${NUMBER}`,
    `424242${NUMBER}9`,
  ]) {
    it(`finds it in ${JSON.stringify(text)}`, () => expect(isIn(text)).to.equal(true));
  }

  for (const text of [
    '',
    '4242',
    'XXXXXXXXXXXX4243',
    '424242424242424',
    '42424242x42424243',
    '4242424242424253',
    '😀',
  ]) {
    it(`does not find it in ${JSON.stringify(text)}`, () => expect(isIn(text)).to.equal(false));
  }

  it('is none for what has fewer than six letters and digits', () => {
    for (const value of ['', '12345', '1-2-3-4-5', '😀😀😀😀😀😀', '- - - - - -']) {
      expect(createValueFinder(value), value).to.equal(undefined);
    }
    for (const value of ['123456', '1-2-3-4-5-6', 'äöüßéè', '𐐀𐐁𐐂𐐃𐐄𐐅']) {
      expect(createValueFinder(value)?.(`in ${value} it`), value).to.equal(true);
    }
  });

  it('finds what a search in the text without its separators finds', () => {
    const bare = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, '');
    const few = fc.constantFrom('1', '2', 'é', '𐐀', '-', '😀', ' ');
    fc.assert(
      fc.property(fc.array(few, { maxLength: 10 }), fc.array(few, { maxLength: 80 }), (value, text) => {
        const finds = createValueFinder(value.join(''));
        fc.pre(finds !== undefined);
        expect(finds(text.join(''))).to.equal(bare(text.join('')).includes(bare(value.join(''))));
      }),
      { numRuns: 2_000 },
    );
  });
});
