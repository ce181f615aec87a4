/** Below this length a value occurs in others by chance: a short account number in a routing number. */
const TELLING_LENGTH = 6;

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** By code point: 0 not looked at yet, 1 a letter or digit, 2 anything else. */
const kinds = new Uint8Array(0x110000);

function isTelling(codePoint: number): boolean {
  kinds[codePoint] ||= LETTER_OR_DIGIT.test(String.fromCodePoint(codePoint)) ? 1 : 2;
  return kinds[codePoint] === 1;
}

/** For each beginning of the value, the length of the longest shorter one that it ends in. */
function bordersOf(value: readonly number[]): number[] {
  const borders = [0];
  for (let length = 0, index = 1; index < value.length; index++) {
    while (length > 0 && value[index] !== value[length]) length = borders[length - 1]!;
    if (value[index] === value[length]) length++;
    borders.push(length);
  }
  return borders;
}

/**
 * Finds a value in text, whatever stands between its letters and digits; undefined where it would be found by chance.
 *
 * The search is that of Knuth, Morris and Pratt: linear, and without a copy of the text. A regular expression of the
 * value would take milliseconds to compile, for each value anew, and stay in the engine's cache in plaintext.
 */
export function createValueFinder(value: string): ((text: string) => boolean) | undefined {
  const telling = Array.from(value, (character) => character.codePointAt(0)!).filter(isTelling);
  if (telling.length < TELLING_LENGTH) return undefined;
  const borders = bordersOf(telling);
  return (text) => {
    for (let found = 0, index = 0; index < text.length;) {
      const codePoint = text.codePointAt(index)!;
      index += codePoint > 0xffff ? 2 : 1;
      if (!isTelling(codePoint)) continue;
      while (found > 0 && codePoint !== telling[found]) found = borders[found - 1]!;
      if (codePoint === telling[found]) found++;
      if (found === telling.length) return true;
    }
    return false;
  };
}
