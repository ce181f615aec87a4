import { expect } from 'chai';
import fc from 'fast-check';
import { evaluateExpression } from '../../../../src/expressions/template.ts';
import { gives, refuses } from './examples.ts';

const march = { expiration_month: 3, expiration_year: 2031 };

describe('card_bin, card_mask', () => {
  gives([
    ['card_bin', '4242424242424242', '42424242'],
    ['card_bin', '378282246310005', '378282'],
    ["card_bin: ' '", '3782 822463 10005', '378282'],
    ['card_bin', null, null],
    ['card_mask', '4242424242424242', 'XXXXXXXXXXXXXXXX'],
    ['card_mask: true', '378282246310005', '378282XXXXXXXXX'],
    ["card_mask: false, true, '*', '-'", '4242-4242-4242-4242', '****-****-****-4242'],
    ['card_mask: true, true', '1234567890', 'XXXXXXXXXX'],
    ['card_mask: true, true', '4242-4242-4242-4242', '4242X4242XXXXXX4242'],
  ]);
  refuses([
    ['card_bin', '4242-4242-4242-4242', 'filter card_bin: takes a card number of 8 to 19 digits'],
    ['card_bin', 'secret', 'filter card_bin: takes a card number of 8 to 19 digits'],
    ["card_mask: 'yes'", '4242', 'filter card_mask: reveal_bin must be true or false'],
  ]);
});

describe('card_exp', () => {
  gives([
    ["card_exp: 'MM'", march, '03'],
    ["card_exp: 'MMYY'", march, '0331'],
    ["card_exp: 'MM/YY'", march, '03/31'],
    ["card_exp: 'MM-YY'", march, '03-31'],
    ["card_exp: 'MM/YYYY'", march, '03/2031'],
    ["card_exp: 'MM-YYYY'", march, '03-2031'],
    ["card_exp: 'MMYYYY'", march, '032031'],
    ["card_exp: 'YYYY-MM'", march, '2031-03'],
    ["card_exp: 'YYYYMM'", march, '203103'],
    ["card_exp: 'YYMM'", march, '3103'],
    ["card_exp: 'YYYY'", march, '2031'],
    ["card_exp: 'MM/YY'", { expiration_month: '12', expiration_year: '2031' }, '12/31'],
    ["card_exp: 'MM/YY'", { number: '4242424242424242' }, null],
    ["card_exp: 'MM/YY'", null, null],
  ]);
  const format = 'filter card_exp: format must be made of MM and YY or YYYY, with nothing, / or - between';
  const range = 'filter card_exp: takes a month from 1 to 12 and a year of four digits';
  refuses([
    ["card_exp: 'DD/MM'", march, format],
    ["card_exp: 'MM/MM'", march, format],
    ['card_exp', march, 'filter card_exp: needs the argument format'],
    ["card_exp: 'MM'", '03/31', 'filter card_exp: takes a card object'],
    ["card_exp: 'MM'", { expiration_month: 13, expiration_year: 2031 }, range],
    ["card_exp: 'MM'", { expiration_month: {}, expiration_year: 31 }, range],
  ]);
});

describe('card_mask', () => {
  it('never shows more than it was asked to, nor everything, and keeps the length', () => {
    const text = fc.string({ unit: fc.constantFrom(...'0123456789', '-', ' ', 'X'), minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(text, fc.boolean(), fc.boolean(), fc.constantFrom('', '-', '- ', '12'), (data, bin, last, kept) => {
        const expression = `{{ data | card_mask: ${bin}, ${last}, '•', '${kept}' }}`;
        const masked = evaluateExpression(expression, { data }) as string;
        expect(masked).to.have.lengthOf(data.length);
        expect(masked).not.to.equal(data);
        const digits = [...data].filter((one) => one >= '0' && one <= '9').length;
        const shown = [...masked].filter((one) => one >= '0' && one <= '9' && !kept.includes(one)).length;
        const asked = (bin ? (digits < 16 ? 6 : 8) : 0) + (last ? 4 : 0);
        expect(shown).to.be.at.most(asked);
      }),
    );
  });
});
