import { expect } from 'chai';
import fc from 'fast-check';
import { evaluateExpression } from '../../../../src/expressions/template.ts';
import { gives, refuses } from './examples.ts';

describe('reveal_last, reveal, last4', () => {
  gives([
    ['reveal_last: 4', '4242424242424242', 'XXXXXXXXXXXX4242'],
    ["reveal_last: 4, '#'", '123-45-6789', '###-##-6789'],
    ['reveal_last: 4', '1234', '1234'],
    ['reveal_last: 0', '12-3', 'XX-X'],
    ['reveal_last: 2', 123456789, 'XXXXXXX89'],
    ["reveal_last: 1, '•'", '😀😀a', '••a'],
    ['reveal_last: 4', null, null],
    ['reveal: 2, 2', 'abcdef', 'abXXef'],
    ['reveal', 'abc', 'XXX'],
    ['reveal: 2, 2', 'abcd', 'XXXX'],
    ["reveal: 1, 1, '#', '-'", '1--2', '####'],
    ["reveal: 1, 1, '#', '-'", '12-34', '1#-#4'],
    ['last4', '42', '42'],
    ['last4', null, null],
  ]);
  refuses([
    ['reveal_last: 4', { a: 1 }, 'filter reveal_last: takes text or a number'],
    ['reveal_last: 4', true, 'filter reveal_last: takes text or a number'],
    ['reveal_last: -1', 'abc', 'filter reveal_last: n must be a whole number from 0 to 1048576'],
    ['reveal_last: 1.5', 'abc', 'filter reveal_last: n must be a whole number from 0 to 1048576'],
    ["reveal_last: 4, ''", 'abc', 'filter reveal_last: mask_char must be one character'],
    ["reveal: 1, 1, '##'", 'abc', 'filter reveal: mask_char must be one character'],
    ['last4', 'a'.repeat(250_001), 'filter last4: takes text of up to 250000 characters'],
  ]);

  it('reveal_last never shows more than it was asked to, beside hyphens', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (data, n) => {
        const before = [...data];
        const after = [...(evaluateExpression(`{{ data | reveal_last: ${n}, '•' }}`, { data }) as string)];
        expect(after).to.have.length(before.length);
        after.slice(0, Math.max(before.length - n, 0)).forEach((one, index) => {
          expect(one).to.equal(before[index] === '-' ? '-' : '•');
        });
      }),
    );
  });

  it('reveal never shows more than it was asked to, and never everything', () => {
    const text = fc.string({ unit: fc.constantFrom('1', '2', '-', ' ', 'é', '😀') });
    fc.assert(
      fc.property(text, fc.nat(8), fc.nat(8), fc.constantFrom('', '-', '- ', '12'), (data, first, last, preserved) => {
        const before = [...data];
        const expression = `{{ data | reveal: ${first}, ${last}, '•', '${preserved}' }}`;
        const result = evaluateExpression(expression, { data }) as string;
        if (data !== '') expect(result).not.to.equal(data);
        [...result].forEach((one, index) => {
          const asked = index < first || index >= before.length - last || preserved.includes(before[index]!);
          if (!asked) expect(one).to.equal('•');
          else expect(one).to.be.oneOf(['•', before[index]]);
        });
      }),
    );
  });
});
