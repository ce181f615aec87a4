import { isLuhnValid } from '../../domain/payment-checks.ts';
import { ExpressionFault } from '../fault.ts';
import { binLength, isDigit } from './card.ts';
import { defineTextFilter, type Filter } from './filter.ts';
import { count, flag } from './parameters.ts';

/** A uniformly random whole number from 0 to below `bound`. */
export type RandomInteger = (bound: number) => number;

const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const CARD_NUMBER = /^\d(?:[- ]?\d){12,18}$/;
// Each random character costs a call into the cryptographic generator; an alias is short.
const LONGEST_ALIAS = 10_000;

/** The filters that give a random stand-in of the same shape. They answer differently at each evaluation. */
export function createAliasFilters(
  random: RandomInteger,
): Record<'alias_card' | 'alias_preserve_format' | 'alias_preserve_length', Filter> {
  const oneOf = (alphabet: string): string => alphabet[random(alphabet.length)]!;
  return {
    alias_card: defineTextFilter([flag('reveal_bin', false), flag('reveal_last4', false)], (text, [bin, last4]) => {
      if (text.length > 40 || !CARD_NUMBER.test(text)) {
        throw new ExpressionFault('takes a card number of 13 to 19 digits, apart by single hyphens or spaces at most');
      }
      const number = [...text].filter(isDigit);
      const first = bin ? binLength(number.length) : 0;
      const end = number.length - (last4 ? 4 : 0);
      const alias = number.map((digit, index) => (index < first || index >= end ? digit : oneOf(DIGITS)));
      // Changing one digit by any amount always breaks the check.
      if (isLuhnValid(alias.join(''))) alias[end - 1] = String((Number(alias[end - 1]) + 1 + random(9)) % 10);
      let next = 0;
      return [...text].map((one) => (isDigit(one) ? alias[next++]! : one)).join('');
    }),
    alias_preserve_format: defineTextFilter([count('first', 0), count('last', 0)], (text, [first, last]) =>
      replaceInner(text, first, last, (one) => {
        if (/\p{Nd}/u.test(one)) return oneOf(DIGITS);
        if (/\p{Lu}/u.test(one)) return oneOf(UPPER);
        return /\p{L}/u.test(one) ? oneOf(LOWER) : one;
      }),
    ),
    alias_preserve_length: defineTextFilter([count('first', 0), count('last', 0)], (text, [first, last]) =>
      replaceInner(text, first, last, () => oneOf(DIGITS + UPPER + LOWER)),
    ),
  };
}

/** Replaces all but the first and last characters; where nothing would be replaced, everything is. */
function replaceInner(text: string, first: number, last: number, replace: (one: string) => string): string {
  if (text.length > LONGEST_ALIAS) throw new ExpressionFault(`takes text of up to ${LONGEST_ALIAS} characters`);
  const all = [...text];
  const keeps = all.length > first + last;
  return all
    .map((one, index) => (keeps && (index < first || index >= all.length - last) ? one : replace(one)))
    .join('');
}
