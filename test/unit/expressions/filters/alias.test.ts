import { expect } from 'chai';
import fc from 'fast-check';
import { isLuhnValid } from '../../../../src/domain/payment-checks.ts';
import { createAliasFilters } from '../../../../src/expressions/filters/alias.ts';
import { Budget } from '../../../../src/expressions/limits.ts';
import { evaluateExpression } from '../../../../src/expressions/template.ts';
import { gives, refuses } from './examples.ts';

describe('alias_card', () => {
  it('keeps the shape and what is asked, and never passes the Luhn check', () => {
    const digits = fc.array(fc.constantFrom(...'0123456789'), { minLength: 13, maxLength: 19 });
    fc.assert(
      fc.property(digits, fc.constantFrom('', '-', ' '), fc.boolean(), fc.boolean(), (number, gap, bin, last4) => {
        const data = number.map((digit, index) => (index % 4 === 0 && index > 0 ? gap + digit : digit)).join('');
        const alias = evaluateExpression(`{{ data | alias_card: ${bin}, ${last4} }}`, { data }) as string;
        const aliased = alias.replace(/\D/g, '');
        expect(alias.replace(/\d/g, '0')).to.equal(data.replace(/\d/g, '0'));
        expect(isLuhnValid(aliased)).to.equal(false);
        const binLength = number.length < 16 ? 6 : 8;
        if (bin) expect(aliased.slice(0, binLength)).to.equal(number.slice(0, binLength).join(''));
        if (last4) expect(aliased.slice(-4)).to.equal(number.slice(-4).join(''));
      }),
    );
  });

  it('changes a digit where chance gives a valid number', () => {
    const { alias_card: filter } = createAliasFilters(() => 0);
    expect(filter.apply('4242424242424242', [false, false], new Budget())).to.equal('0000000000000001');
  });

  refuses(
    ['424242424242', '42424242424242424242', '4242--4242-4242-4242', 'secret'].map((data) => [
      'alias_card',
      data,
      'filter alias_card: takes a card number of 13 to 19 digits, apart by single hyphens or spaces at most',
    ]),
  );
});

describe('alias_preserve_format, alias_preserve_length', () => {
  gives([
    ['alias_preserve_format', null, null],
    ['alias_preserve_format', '-/ .', '-/ .'],
    ['alias_preserve_length', '', ''],
  ]);

  it('give digits for digits and letters for letters', () => {
    const alias = evaluateExpression('{{ data | alias_preserve_format: 1, 1 }}', { data: 'aB3-éÉz9' });
    expect(alias).to.match(/^a[A-Z]\d-[a-z][A-Z][a-z]9$/);
  });

  it('keep nothing where they would keep everything', () => {
    const { alias_preserve_length: filter } = createAliasFilters(() => 0);
    expect(filter.apply('abcd', [2, 2], new Budget())).to.equal('0000');
    expect(filter.apply('abcde', [2, 2], new Budget())).to.equal('ab0de');
  });

  it('give another alias each time', () => {
    const alias = (): unknown => evaluateExpression('{{ data | alias_preserve_length }}', { data: 'a'.repeat(40) });
    expect(alias()).not.to.equal(alias());
  });
});
