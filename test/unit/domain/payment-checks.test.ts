import { expect } from 'chai';
import fc from 'fast-check';
import { isAbaRoutingNumber, isLuhnValid } from '../../../src/domain/payment-checks.ts';

const digits = (minLength: number, maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength, maxLength }).map((list) => list.join(''));

/** The text with one check digit added that makes it pass. */
function completed(text: string, passes: (digits: string) => boolean): string {
  return [...'0123456789'].map((digit) => text + digit).find(passes)!;
}

const luhnNumbers = digits(1, 18).map((text) => completed(text, isLuhnValid));
const abaNumbers = digits(8, 8)
  .filter((text) => text !== '00000000')
  .map((text) => completed(text, isAbaRoutingNumber));

/** The Luhn check by its table of doubled digits (ISO/IEC 7812-1, annex B), written independently of the code. */
function luhnByTable(number: string): boolean {
  const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
  const fromRight = [...number].reverse().map(Number);
  return fromRight.map((digit, index) => (index % 2 ? doubled[digit]! : digit)).reduce((a, b) => a + b, 0) % 10 === 0;
}

/** The ABA checksum as its three sums: 3(d1 + d4 + d7) + 7(d2 + d5 + d8) + (d3 + d6 + d9). */
function abaBySums(number: string): boolean {
  const [d1, d2, d3, d4, d5, d6, d7, d8, d9] = [...number].map(BigInt);
  return (3n * (d1! + d4! + d7!) + 7n * (d2! + d5! + d8!) + d3! + d6! + d9!) % 10n === 0n;
}

function withDigit(text: string, index: number, digit: number): string {
  return text.slice(0, index) + String(digit) + text.slice(index + 1);
}

function swapped(text: string, index: number): string {
  return text.slice(0, index) + text[index + 1]! + text[index]! + text.slice(index + 2);
}

for (const [name, numbers, passes, blindTo] of [
  // Nine and nought are the one pair whose doubled digits differ as they do.
  ['the Luhn check', luhnNumbers, isLuhnValid, (a: number, b: number) => Math.abs(a - b) === 9],
  // The weights of neighbours differ by even numbers, which hide a difference of five.
  ['the ABA checksum', abaNumbers, isAbaRoutingNumber, (a: number, b: number) => Math.abs(a - b) === 5],
] as const) {
  describe(name, () => {
    it('finds a single digit that is wrong', () => {
      fc.assert(
        fc.property(numbers, fc.nat(), fc.integer({ min: 1, max: 9 }), (number, at, change) => {
          const index = at % number.length;
          const altered = withDigit(number, index, (Number(number[index]) + change) % 10);
          expect(passes(altered), `${number} -> ${altered}`).to.equal(false);
        }),
      );
    });

    it('finds two neighbours that changed places, but for the pairs that it cannot', () => {
      fc.assert(
        fc.property(numbers, fc.nat(), (number, at) => {
          const index = at % (number.length - 1);
          const [left, right] = [Number(number[index]), Number(number[index + 1])];
          expect(passes(swapped(number, index))).to.equal(left === right || blindTo(left, right));
        }),
      );
    });

    it('refuses anything but digits', () => {
      for (const text of ['', ' ', '4242 4242', '４２', '1e3', '-0', '4242424242424242\n', '021000021 ']) {
        expect(passes(text), JSON.stringify(text)).to.equal(false);
      }
    });
  });
}

describe('the checks beside independent ones', () => {
  it('agree about random digits', () => {
    fc.assert(
      fc.property(digits(1, 24), (number) => isLuhnValid(number) === luhnByTable(number)),
      { numRuns: 2_000 },
    );
    const nine = digits(9, 9).filter((number) => number !== '000000000');
    fc.assert(
      fc.property(nine, (number) => isAbaRoutingNumber(number) === abaBySums(number)),
      { numRuns: 2_000 },
    );
  });

  it('agree about numbers made to pass', () => {
    fc.assert(fc.property(luhnNumbers, luhnByTable));
    fc.assert(fc.property(abaNumbers, abaBySums));
  });

  it('let exactly one digit of ten pass in each place', () => {
    for (const [numbers, passes] of [
      [luhnNumbers, isLuhnValid],
      [abaNumbers, isAbaRoutingNumber],
    ] as const) {
      fc.assert(
        fc.property(numbers, fc.nat(), (number, at) => {
          const variants = [...'0123456789'].map((digit) => withDigit(number, at % number.length, Number(digit)));
          expect(variants.filter(passes)).to.deep.equal([number]);
        }),
      );
    }
  });

  it('refuse what is amid, before or after the digits', () => {
    const intruder = fc.constantFrom(' ', '-', '\u00a0', '.', '\n', '٣', '３', 'O', 'l', '\0', '+');
    fc.assert(
      fc.property(luhnNumbers, intruder, fc.nat(), (number, text, at) => {
        const index = at % (number.length + 1);
        expect(isLuhnValid(number.slice(0, index) + text + number.slice(index))).to.equal(false);
      }),
    );
    fc.assert(
      fc.property(abaNumbers, intruder, fc.nat(8), (number, text, index) => {
        expect(isAbaRoutingNumber(number.slice(0, index) + text + number.slice(index))).to.equal(false);
        expect(isAbaRoutingNumber(number.slice(0, index) + text + number.slice(index + 1))).to.equal(false);
      }),
    );
  });

  it('refuse routing numbers of any other length', () => {
    fc.assert(
      fc.property(
        digits(0, 20).filter(({ length }) => length !== 9),
        (number) => !isAbaRoutingNumber(number),
      ),
    );
  });
});

describe('known numbers', () => {
  it('pass where card networks and banks use them', () => {
    for (const number of ['4242424242424242', '5555555555554444', '378282246310005', '6011111111111117', '0']) {
      expect(isLuhnValid(number), number).to.equal(true);
    }
    for (const number of ['021000021', '011401533', '091000019']) expect(isAbaRoutingNumber(number)).to.equal(true);
  });

  it('fail as routing numbers with another length, or all zeros', () => {
    for (const number of ['02100002', '0210000210', '000000000']) {
      expect(isAbaRoutingNumber(number), number).to.equal(false);
    }
  });
});
