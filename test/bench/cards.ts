import { randomInt } from 'node:crypto';

export interface Card {
  number: string;
  expiration_month: number;
  expiration_year: number;
}

function checkDigit(digits: string): number {
  const sum = [...digits]
    .reverse()
    .map(Number)
    .reduce((total, digit, index) => total + (index % 2 === 1 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0);
  return (10 - (sum % 10)) % 10;
}

/** A random card with a right check digit, so that no two requests store the same fingerprint. */
export function randomCard(): Card {
  const digits = `4${String(randomInt(10 ** 14)).padStart(14, '0')}`;
  return { number: `${digits}${checkDigit(digits)}`, expiration_month: 12, expiration_year: 2035 };
}
