import { expect } from 'chai';
import type { Json } from '../../../../src/domain/json.ts';
import { ownFilters } from '../../../../src/expressions/filters/registry.ts';
import { evaluateExpression } from '../../../../src/expressions/template.ts';
import { violationsOf } from '../violations.ts';

type Argument = [name: string, fallback: Json | undefined, good: string, wrong: string[]];

interface Contract {
  /** Default and a good value of each argument in order, and values of wrong types or out of range; in Liquid. */
  args: Argument[];
  input: Json;
  /** Inputs of types that the filter does not take. */
  refuses: Json[];
}

const NOT_TEXT: Json[] = [true, [], {}, ['a']];
const NOT_COUNTS = ["'1'", '-1', '1.5', 'true', 'nil', '1048577'];
const NOT_FLAGS = ["'true'", '1', 'nil'];
const NOT_CHARACTERS = ["''", "'ab'", '1', 'true', 'nil'];
const NOT_SETS = ['1', 'true', 'nil', `'${'a'.repeat(101)}'`];
const none = (input: Json, refuses: Json[]): Contract => ({ args: [], input, refuses });
const COUNTS: Argument[] = [
  ['first', 0, '1', NOT_COUNTS],
  ['last', 0, '1', NOT_COUNTS],
];
const FLAGS: Argument[] = [
  ['reveal_bin', false, 'true', NOT_FLAGS],
  ['reveal_last4', false, 'true', NOT_FLAGS],
];
const PADDING: Argument[] = [
  ['length', undefined, '4', NOT_COUNTS],
  ['char', ' ', "'0'", NOT_CHARACTERS],
];
const MASK: Argument = ['mask_char', 'X', "'*'", NOT_CHARACTERS];
const CARD = '4242424242424242';

const CONTRACTS: Record<string, Contract> = {
  reveal_last: { args: [['n', undefined, '4', NOT_COUNTS], MASK], input: 'abcdef', refuses: NOT_TEXT },
  reveal: { args: [...COUNTS, MASK, ['preserve_chars', '', "'-'", NOT_SETS]], input: 'abcdef', refuses: NOT_TEXT },
  last4: none('abcdef', NOT_TEXT),
  stringify: none({ a: 1 }, []),
  json: { args: [['path', undefined, "'$.a'", ['1', 'true', 'nil', "''", "'a'"]]], input: { a: 1 }, refuses: [] },
  to_string: none(1, []),
  to_number: none('1', ['', 'a', '1 2', '0x10', 'NaN', true, [], {}]),
  to_boolean: none('true', ['', 'yes', 2, [], {}]),
  card_bin: { args: [['separator', '', "'-'", NOT_SETS]], input: CARD, refuses: [...NOT_TEXT, '', '4242', 'abcdefgh'] },
  card_mask: { args: [...FLAGS, MASK, ['preserve_char', '', "'-'", NOT_SETS]], input: CARD, refuses: NOT_TEXT },
  card_exp: {
    args: [['format', undefined, "'MM/YY'", ['1', 'true', 'nil', "''", "'DD'", "'MM YY'", "'MM/YY/MM'"]]],
    input: { expiration_month: 3, expiration_year: 2031 },
    refuses: ['03/31', 1, true, [], { expiration_month: 13, expiration_year: 2031 }],
  },
  pad_left: { args: PADDING, input: '1', refuses: NOT_TEXT },
  pad_right: { args: PADDING, input: '1', refuses: NOT_TEXT },
  alias_card: { args: FLAGS, input: CARD, refuses: [...NOT_TEXT, '', '4242', '4242--4242424242424'] },
  alias_preserve_format: { args: COUNTS, input: 'ab-12', refuses: NOT_TEXT },
  alias_preserve_length: { args: COUNTS, input: 'ab-12', refuses: NOT_TEXT },
  hmac: {
    args: [
      ['algorithm', undefined, "'sha-256'", ["'sha256'", "'md5'", '1', 'nil']],
      ['key', undefined, "'k'", ["''", '1', 'nil']],
    ],
    input: 'a',
    refuses: NOT_TEXT,
  },
  to_base64: none('a', NOT_TEXT),
  to_base16: none('a', NOT_TEXT),
  base64_url_safe_encode: none('a', NOT_TEXT),
  base64_url_safe_decode: none('YQ', [...NOT_TEXT, '*', 'a']),
};

const applied = (name: string, args: readonly string[]): string =>
  `{{ data | ${name}${args.length === 0 ? '' : `: ${args.join(', ')}`} }}`;

const refusal = (expression: string, data: Json): string =>
  violationsOf(() => evaluateExpression(expression, { data }, 'mask'))['mask']!.join();

it('the contract is that of every filter, argument and default', () => {
  const registered = [...ownFilters].map(([name, { parameters }]) => [
    name,
    parameters.map((parameter) => [parameter.name, parameter.fallback]),
  ]);
  const expected = Object.entries(CONTRACTS).map(([name, { args }]) => [
    name,
    args.map(([argument, fallback]) => [argument, fallback]),
  ]);
  expect(Object.fromEntries(registered)).to.deep.equal(Object.fromEntries(expected));
});

for (const [name, { args, input, refuses }] of Object.entries(CONTRACTS)) {
  const required = args.filter(([, fallback]) => fallback === undefined).map(([, , good]) => good);
  const all = args.map(([, , good]) => good);
  const allBut = (index: number, other: string): string[] => all.map((good, at) => (at === index ? other : good));

  describe(`the filter ${name}`, () => {
    it('takes its required arguments alone, and all', () => {
      for (const given of [required, all]) {
        expect(evaluateExpression(applied(name, given), { data: input }), given.join()).not.to.equal(null);
      }
    });

    it('keeps null, and what is missing', () => {
      expect(evaluateExpression(applied(name, required), { data: null })).to.equal(null);
      expect(evaluateExpression(applied(name, all).replace('data', 'data.missing'), { data: {} })).to.equal(null);
    });

    it('refuses one argument more', () => {
      expect(refusal(applied(name, [...all, '1']), input)).to.equal(`filter ${name}: has too many arguments`);
    });

    if (required.length > 0) {
      it('refuses to go without a required argument', () => {
        const fewer = required.slice(0, -1);
        expect(refusal(applied(name, fewer), input)).to.equal(
          `filter ${name}: needs the argument ${args[required.length - 1]![0]}`,
        );
      });
    }

    args.forEach(([argument, , , wrong], index) => {
      it(`refuses as its argument ${argument}: ${wrong.map((one) => one.slice(0, 12)).join(' ')}`, () => {
        for (const one of wrong) {
          const message = refusal(applied(name, allBut(index, one)), input);
          expect(message, one).to.match(new RegExp(`^filter ${name}: ${argument} must `));
          // The same where the argument is not known before the data is.
          expect(
            violationsOf(() =>
              evaluateExpression(applied(name, allBut(index, 'metadata.missing')), { data: input }, 'mask'),
            )['mask']!.join(),
          ).to.match(new RegExp(`^filter ${name}: `));
        }
      });
    });

    if (refuses.length > 0) {
      it('refuses data of another kind', () => {
        for (const data of refuses) {
          expect(refusal(applied(name, required), data), JSON.stringify(data)).to.match(
            new RegExp(`^filter ${name}: takes `),
          );
        }
      });
    }
  });
}
