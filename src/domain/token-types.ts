import type { ViolationCollector } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { isAbaRoutingNumber, isLuhnValid } from './payment-checks.ts';

/** What a token type decides where the caller does not (choices, section 3). */
export interface TokenType {
  /** Records every fault of `data`; messages never hold the data. */
  validate(data: Json, path: string, violations: ViolationCollector): void;
  container: string;
  fingerprintExpression: string;
  /** Template of the default mask; null: redacted. */
  mask: Json;
  searchIndexes?: string[];
}

const CARD_NUMBER = /^\d{13,19}$/;

function validateString(
  data: Json | undefined,
  path: string,
  violations: ViolationCollector,
  rules: [holds: (text: string) => boolean, message: string][],
): void {
  if (typeof data !== 'string') {
    violations.add(path, data === undefined ? 'is required' : 'must be a string');
    return;
  }
  const broken = rules.find(([holds]) => !holds(data));
  if (broken) violations.add(path, broken[1]);
}

function validateObject(
  data: Json,
  path: string,
  violations: ViolationCollector,
  members: Record<string, (value: Json | undefined, path: string) => void>,
): void {
  if (!isJsonObject(data)) {
    violations.add(path, 'must be an object');
    return;
  }
  for (const [name, validate] of Object.entries(members)) validate(data[name], `${path}.${name}`);
  // What is not named may itself be secret.
  if (!Object.keys(data).every((name) => Object.hasOwn(members, name))) {
    violations.add(path, `must have no members but ${Object.keys(members).join(', ')}`);
  }
}

const cardNumber = (value: Json | undefined, path: string, violations: ViolationCollector) =>
  validateString(value, path, violations, [
    [(text) => CARD_NUMBER.test(text), 'must be 13 to 19 digits without separators'],
    [isLuhnValid, 'must be a valid card number (Luhn check)'],
  ]);

const routingNumber = (value: Json | undefined, path: string, violations: ViolationCollector) =>
  validateString(value, path, violations, [
    [(text) => /^\d{9}$/.test(text), 'must be 9 digits'],
    [isAbaRoutingNumber, 'must be a valid ABA routing number (checksum)'],
  ]);

function integerBetween(min: number, max: number, violations: ViolationCollector) {
  return (value: Json | undefined, path: string) => {
    if (value === undefined || value === null) return;
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
      violations.add(path, `must be an integer from ${min} to ${max}`);
    }
  };
}

function validateCard(data: Json, path: string, violations: ViolationCollector): void {
  validateObject(data, path, violations, {
    number: (value, at) => cardNumber(value, at, violations),
    expiration_month: integerBetween(1, 12, violations),
    expiration_year: integerBetween(1000, 9999, violations),
    cvc: (value, at) => {
      if (value === undefined || value === null) return;
      validateString(value, at, violations, [[(text) => /^\d{3,4}$/.test(text), 'must be 3 or 4 digits']]);
    },
  });
}

function validateBank(data: Json, path: string, violations: ViolationCollector): void {
  validateObject(data, path, violations, {
    routing_number: (value, at) => routingNumber(value, at, violations),
    account_number: (value, at) =>
      validateString(value, at, violations, [[(text) => /^\d{1,17}$/.test(text), 'must be 1 to 17 digits']]),
  });
}

const patterned =
  (pattern: RegExp, message: string): TokenType['validate'] =>
  (data, path, violations) =>
    validateString(data, path, violations, [[(text) => pattern.test(text), message]]);

const HIDE_ALL_BUT_LAST_4 = '{{ data | reveal_last: 4 }}';

// People look these numbers up with and without the hyphen, and by their last four digits.
const HYPHENATED_INDEXES = ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}'];

/** Every token type, by its name in `type`. */
export const TOKEN_TYPES = {
  token: {
    validate: (data, path, violations) => {
      if (data === null) violations.add(path, 'must not be null');
    },
    container: '/general/high/',
    fingerprintExpression: '{{ data | stringify }}',
    mask: null,
  },
  card: {
    validate: validateCard,
    container: '/pci/high/',
    fingerprintExpression: '{{ data.number }}',
    mask: {
      number: '{{ data.number | reveal_last: 4 }}',
      expiration_month: '{{ data.expiration_month }}',
      expiration_year: '{{ data.expiration_year }}',
    },
  },
  bank: {
    validate: validateBank,
    container: '/bank/high/',
    fingerprintExpression: '{{ data.account_number }}|{{ data.routing_number }}',
    mask: { routing_number: '{{ data.routing_number }}', account_number: '{{ data.account_number | reveal_last: 4 }}' },
  },
  card_number: {
    validate: cardNumber,
    container: '/pci/high/',
    fingerprintExpression: '{{ data }}',
    mask: HIDE_ALL_BUT_LAST_4,
  },
  us_bank_account_number: {
    validate: patterned(/^\d{3,17}$/, 'must be 3 to 17 digits'),
    container: '/bank/high/',
    fingerprintExpression: '{{ data }}',
    mask: HIDE_ALL_BUT_LAST_4,
  },
  us_bank_routing_number: {
    validate: routingNumber,
    container: '/bank/low/',
    fingerprintExpression: '{{ data }}',
    mask: HIDE_ALL_BUT_LAST_4,
  },
  social_security_number: {
    validate: patterned(/^\d{3}-?\d{2}-?\d{4}$/, 'must be 9 digits, with or without hyphens'),
    container: '/pii/high/',
    fingerprintExpression: "{{ data | remove: '-' }}",
    mask: HIDE_ALL_BUT_LAST_4,
    searchIndexes: HYPHENATED_INDEXES,
  },
  employer_id_number: {
    validate: patterned(/^\d{2}-?\d{7}$/, 'must be 9 digits, with or without a hyphen'),
    container: '/pii/high/',
    fingerprintExpression: "{{ data | remove: '-' }}",
    mask: HIDE_ALL_BUT_LAST_4,
    searchIndexes: HYPHENATED_INDEXES,
  },
} as const satisfies Record<string, TokenType>;

export type TokenTypeName = keyof typeof TOKEN_TYPES;

export const TOKEN_TYPE_NAMES = Object.keys(TOKEN_TYPES) as TokenTypeName[];

export function isTokenTypeName(name: string): name is TokenTypeName {
  return Object.hasOwn(TOKEN_TYPES, name);
}

/** The value whose presence in an id would give the token away; undefined where there is no one value. */
export function identifyingValue(type: string, data: Json): string | undefined {
  if (type === 'card') return (data as JsonObject)['number'] as string;
  if (type === 'bank') return (data as JsonObject)['account_number'] as string;
  return type !== 'token' && typeof data === 'string' ? data : undefined;
}

/** A card without its verification code, and the code by itself: the two are kept apart (see design, section 4). */
export function splitCvc(type: string, data: Json): { data: Json; cvc: string | null } {
  if (type !== 'card' || !isJsonObject(data) || typeof data['cvc'] !== 'string') return { data, cvc: null };
  const { cvc, ...rest } = data;
  return { data: rest, cvc };
}
