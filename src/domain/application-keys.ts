import { createHash, randomBytes } from 'node:crypto';
import type { ApplicationType } from './applications.ts';
import type { TenantType } from './tenants.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const TYPE_CODES = { private: 'pvt', public: 'pub', management: 'mgt' } as const satisfies Record<
  ApplicationType,
  string
>;
const SESSION_CODE = 'ses';
const KEY = /^key_(?:prod|test)_(?:pvt|pub|mgt|ses)_[0-9A-Za-z]{49}$/;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)]! + text;
  return text;
}

function checksum(body: string): string {
  const digest = createHash('sha256').update(body).digest();
  return base62(digest.readBigUInt64BE(), CHECKSUM_LENGTH);
}

/**
 * A new key: 256 random bits and a checksum, so that a secret scanner can recognise a leaked key and junk is refused
 * without a look-up.
 */
export function generateApplicationKey(tenant: TenantType, type: ApplicationType): string {
  return generateKey(tenant, TYPE_CODES[type]);
}

/** A new key of a session, made as those of applications are. */
export function generateSessionKey(tenant: TenantType): string {
  return generateKey(tenant, SESSION_CODE);
}

/** Whether a plausible key says of itself that it is a session's. */
export function isSessionKey(key: string): boolean {
  return KEY.test(key) && key.split('_')[2] === SESSION_CODE;
}

function generateKey(tenant: TenantType, code: string): string {
  const prefix = `key_${tenant === 'test' ? 'test' : 'prod'}_${code}_`;
  const body = prefix + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);
  return body + checksum(body);
}

/** Whether a key was brought from elsewhere: such keys have limits of their own (interface, section 5). */
export function isLegacyKey(key: string): boolean {
  return !key.includes('_prod_') && !key.includes('_test_');
}

/**
 * Whether a presented key may be looked up: a key of our own format with a right checksum, or a legacy key.
 */
export function isPlausibleApplicationKey(key: string): boolean {
  if (isLegacyKey(key)) return /^[\x21-\x7e]{16,256}$/.test(key);
  return KEY.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
}

/** What is stored of a key: SHA-256 in lower-case hex. A slow hash adds nothing to 256 random bits. */
export function digestOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
