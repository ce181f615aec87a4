import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import type { CipherGCM, DecipherGCM, JsonWebKey, KeyObject } from 'node:crypto';

const MAX_RANDOM_BYTES = 65_536;
/** A larger modulus keeps this process busy for longer than a guest's stretch may take. */
const MAX_RSA_BITS = 8192;
const CIPHERS = /^aes-?(128|192|256)-(gcm|cbc|ctr|ecb)$/i;

/** A key as the guest has it: PEM or JWK as text, DER as base64. */
interface KeyInput {
  key: string;
  format: 'pem' | 'der' | 'jwk';
  type?: 'pkcs8' | 'spki' | 'pkcs1' | 'sec1';
  passphrase?: string;
}

/** How a key is used; the numbers are those of OpenSSL, as Node has them. */
interface KeyUse {
  padding?: number;
  saltLength?: number;
  dsaEncoding?: 'der' | 'ieee-p1363';
  oaepHash?: string;
  oaepLabel?: string;
}

const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64');

function keyOf(text: string, kind: 'private' | 'public'): KeyObject {
  const { key, format, type, passphrase } = JSON.parse(text) as KeyInput;
  const input = {
    key: format === 'pem' ? key : format === 'der' ? bytes(key) : (JSON.parse(key) as JsonWebKey),
    format,
    ...(type === undefined ? {} : { type }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
  const made = kind === 'private' ? createPrivateKey(input as never) : createPublicKey(input as never);
  if ((made.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_RSA_BITS) throw new RangeError('The key is too large');
  return made;
}

/** JSON of a key's kind and its DER, whatever form it came in. */
function describeKey(kind: string, text: string): string {
  const isPrivate = kind === 'private';
  const key = keyOf(text, isPrivate ? 'private' : 'public');
  const der = isPrivate ? key.export({ format: 'der', type: 'pkcs8' }) : key.export({ format: 'der', type: 'spki' });
  const { namedCurve, modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
  const exponent = publicExponent === undefined ? undefined : Number(publicExponent);
  const about = { type: key.asymmetricKeyType, namedCurve, modulusLength, publicExponent: exponent };
  return JSON.stringify({ ...about, der: der.toString('base64'), jwk: key.export({ format: 'jwk' }) });
}

function useOf(text: string): KeyUse {
  const { oaepLabel, ...use } = JSON.parse(text) as KeyUse;
  return { ...use, ...(oaepLabel === undefined ? {} : { oaepLabel: bytes(oaepLabel) as never }) };
}

/** `<data>.<tag>`, both base64; the tag is empty where the mode has none. */
function encrypt(algorithm: string, key: string, iv: string, data: string, options: string): string {
  const { aad, tagBytes, padding } = JSON.parse(options) as { aad?: string; tagBytes?: number; padding?: boolean };
  if (!CIPHERS.test(algorithm)) throw Object.assign(new Error(), { code: 'ERR_CRYPTO_UNKNOWN_CIPHER' });
  const isGcm = /gcm$/i.test(algorithm);
  const cipher = createCipheriv(algorithm, bytes(key), bytes(iv), (isGcm ? { authTagLength: tagBytes } : {}) as never);
  if (aad !== undefined) (cipher as CipherGCM).setAAD(bytes(aad));
  if (padding === false) cipher.setAutoPadding(false);
  const out = Buffer.concat([cipher.update(bytes(data)), cipher.final()]);
  return `${out.toString('base64')}.${isGcm ? (cipher as CipherGCM).getAuthTag().toString('base64') : ''}`;
}

function decrypt(algorithm: string, key: string, iv: string, data: string, options: string): string {
  const { aad, tag, padding } = JSON.parse(options) as { aad?: string; tag?: string; padding?: boolean };
  if (!CIPHERS.test(algorithm)) throw Object.assign(new Error(), { code: 'ERR_CRYPTO_UNKNOWN_CIPHER' });
  const tagBytes = tag === undefined ? undefined : bytes(tag).length;
  const options_ = tagBytes === undefined ? undefined : ({ authTagLength: tagBytes } as never);
  const decipher = createDecipheriv(algorithm, bytes(key), bytes(iv), options_);
  if (aad !== undefined) (decipher as DecipherGCM).setAAD(bytes(aad));
  if (tag !== undefined) (decipher as DecipherGCM).setAuthTag(bytes(tag));
  if (padding === false) decipher.setAutoPadding(false);
  return `${Buffer.concat([decipher.update(bytes(data)), decipher.final()]).toString('base64')}.`;
}

/** Texts in, a text out. An error becomes `!` and its code, which says nothing of key or data. */
const CALLS: Record<string, (...texts: string[]) => string> = {
  hash: (algorithm, data) => createHash(algorithm).update(data, 'base64').digest('base64'),
  hmac: (algorithm, key, data) => createHmac(algorithm, bytes(key)).update(data, 'base64').digest('base64'),
  random: (size) => (Number(size) <= MAX_RANDOM_BYTES ? randomBytes(Number(size)).toString('base64') : '!'),
  uuid: () => randomUUID(),
  encrypt,
  decrypt,
  key: describeKey,
  sign: (algorithm, key, use, data) =>
    sign(algorithm || null, bytes(data), { key: keyOf(key, 'private'), ...useOf(use) }).toString('base64'),
  verify: (algorithm, key, use, data, signature) =>
    String(verify(algorithm || null, bytes(data), { key: keyOf(key, 'public'), ...useOf(use) }, bytes(signature))),
  'rsa-encrypt': (key, use, data) =>
    publicEncrypt(
      { padding: constants.RSA_PKCS1_OAEP_PADDING, ...useOf(use), key: keyOf(key, 'public') },
      bytes(data),
    ).toString('base64'),
  // '=' before it, as an empty text may have been encrypted.
  'rsa-decrypt': (key, use, data) =>
    `=${privateDecrypt(
      { padding: constants.RSA_PKCS1_OAEP_PADDING, ...useOf(use), key: keyOf(key, 'private') } as never,
      bytes(data),
    ).toString('base64')}`,
};

/** Undefined for an operation that is none of these. Never throws: an error would show our stack to the guest. */
export function computeCrypto(operation: string, texts: string[]): string | undefined {
  if (!Object.hasOwn(CALLS, operation)) return undefined;
  try {
    return CALLS[operation]!(...texts);
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
    return `!${code.replace(/[^A-Z0-9_]/g, '')}`;
  }
}
