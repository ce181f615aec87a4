import creditCardType from 'credit-card-type';
import { isJsonObject, type Json } from './json.ts';

/** What a card's number says about it without showing it: at most the BIN and the last four digits. */
export interface CardEnrichments {
  card_details: { bin: string; last4: string };
  bin_details?: { card_brand: string };
}

/** Digits that identify the issuer: 8 of a number of 16 or more (ISO/IEC 7812-1:2017), else 6. */
function binOf(number: string): string {
  return number.slice(0, number.length >= 16 ? 8 : 6);
}

/** The enrichments of a token's data; undefined where its type has none. */
export function enrichmentsOf(type: string, data: Json): CardEnrichments | undefined {
  const number = type === 'card_number' ? data : type === 'card' && isJsonObject(data) ? data['number'] : undefined;
  if (typeof number !== 'string') return undefined;
  const details = { card_details: { bin: binOf(number), last4: number.slice(-4) } };
  const [brand, ...others] = creditCardType(number);
  return brand && others.length === 0 ? { ...details, bin_details: { card_brand: brand.type } } : details;
}
