import { isJsonObject, type Json } from '../../domain/json.ts';
import { ExpressionFault } from '../fault.ts';
import { defineFilter, defineTextFilter, type Parameter } from './filter.ts';
import { character, characters, flag } from './parameters.ts';

/** Digits of the bank identification number: six on numbers under 16 digits, else eight (ISO/IEC 7812-1:2017). */
export function binLength(digits: number): number {
  return digits < 16 ? 6 : 8;
}

export function isDigit(character: string): boolean {
  return character.length === 1 && character >= '0' && character <= '9';
}

/** The bank identification number. `separator` stands between the number's digits and is left out. */
export const card_bin = defineTextFilter([characters('separator', '')], (text, [separator]) => {
  const number = separator === '' ? text : text.split(separator).join('');
  if (!/^\d{8,19}$/.test(number)) throw new ExpressionFault('takes a card number of 8 to 19 digits');
  return number.slice(0, binLength(number.length));
});

/** Masks a card number but for what is asked. `preserve_char` stays where it stands. */
export const card_mask = defineTextFilter(
  [
    flag('reveal_bin', false),
    flag('reveal_last4', false),
    character('mask_char', 'X'),
    characters('preserve_char', ''),
  ],
  (text, [revealBin, revealLast4, mask, preserved]) => {
    const all = [...text];
    const digits = all.filter(isDigit).length;
    const first = revealBin ? binLength(digits) : 0;
    const last = revealLast4 ? 4 : 0;
    let position = 0;
    const masked = all
      .map((one) => {
        if (preserved.includes(one)) return one;
        if (!isDigit(one)) return mask;
        position++;
        return position <= first || position > digits - last ? one : mask;
      })
      .join('');
    return masked === text ? mask.repeat(all.length) : masked;
  },
);

const EXPIRY_FORMAT = /^(?:MM|YY(?:YY)?|MM[/-]?YY(?:YY)?|YY(?:YY)?[/-]?MM)$/;

const expiryFormat: Parameter<string> = {
  name: 'format',
  read: (value) => {
    if (typeof value === 'string' && value.length <= 7 && EXPIRY_FORMAT.test(value)) return value;
    throw new ExpressionFault('format must be made of MM and YY or YYYY, with nothing, / or - between');
  },
};

/** Formats the expiry of a card object. Null where the card has no month or no year. */
export const card_exp = defineFilter([expiryFormat], (card, [format]) => {
  if (!isJsonObject(card)) throw new ExpressionFault('takes a card object');
  const { expiration_month: month = null, expiration_year: year = null } = card;
  if (month === null || year === null) return null;
  const mm = digitsOf(month).padStart(2, '0');
  const yyyy = digitsOf(year);
  if (!/^(?:0[1-9]|1[0-2])$/.test(mm) || !/^\d{4}$/.test(yyyy)) {
    throw new ExpressionFault('takes a month from 1 to 12 and a year of four digits');
  }
  return format.replace('YYYY', yyyy).replace('YY', yyyy.slice(-2)).replace('MM', mm);
});

function digitsOf(value: Json): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '';
}
