import type { GuestBuffer } from './buffer.ts';
import type { GuestCrypto } from './crypto.ts';
import type { Algorithm, GuestCryptoTerms } from './crypto-terms.ts';

/** The keys of `crypto.subtle`: how they come about, what each may do, and how they leave. */
export function createCryptoKeys(crypto: GuestCrypto, Buffer: GuestBuffer, terms: GuestCryptoTerms) {
  type Bytes = InstanceType<GuestBuffer>;
  /** What the host says of an asymmetric key. */
  interface Described {
    type: string;
    namedCurve?: string;
    modulusLength?: number;
    publicExponent?: number;
    der: string;
    jwk: object;
  }
  type Material = { secret: Bytes } | { spec: string; described: Described };

  const CURVES: Record<string, { node: string; bytes: number }> = {
    'P-256': { node: 'prime256v1', bytes: 32 },
    'P-384': { node: 'secp384r1', bytes: 48 },
    'P-521': { node: 'secp521r1', bytes: 66 },
  };
  const BLOCK_BYTES: Record<string, number> = { 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128 };
  const USES: Record<string, { private: string[]; public: string[]; secret: string[] }> = {
    HMAC: { private: [], public: [], secret: ['sign', 'verify'] },
    AES: { private: [], public: [], secret: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'] },
    'RSA-OAEP': { private: ['decrypt', 'unwrapKey'], public: ['encrypt', 'wrapKey'], secret: [] },
    SIGNING: { private: ['sign'], public: ['verify'], secret: [] },
  };

  const { failure, unsupported, algorithmOf, hashOf, nodeHash, isAes, bytesOf, toArrayBuffer, text, fromText } = terms;

  let materialOf: (key: CryptoKey) => Material;
  class CryptoKey {
    readonly type: 'secret' | 'public' | 'private';
    readonly extractable: boolean;
    readonly algorithm: Algorithm;
    readonly usages: string[];
    readonly #material: Material;
    static {
      materialOf = (key) => key.#material;
    }
    constructor(
      type: CryptoKey['type'],
      extractable: boolean,
      algorithm: Algorithm,
      usages: string[],
      material: Material,
    ) {
      const group = isAes(algorithm.name) ? 'AES' : USES[algorithm.name] ? algorithm.name : 'SIGNING';
      if (usages.some((usage) => !USES[group]![type].includes(usage)))
        throw failure('SyntaxError', `Unsupported key usage for a ${algorithm.name} key`);
      if (type !== 'public' && usages.length === 0)
        throw failure('SyntaxError', 'Usages cannot be empty when importing a private or secret key.');
      this.type = type;
      this.extractable = extractable;
      this.algorithm = algorithm;
      this.usages = [...usages];
      this.#material = material;
    }
    get [Symbol.toStringTag](): string {
      return 'CryptoKey';
    }
  }

  /** What a key that may be used so is made of, and the hash that it came with, as Node names it, or ''. */
  function keyFor(key: unknown, usage: string, name: string): { material: Material; hash: string } {
    if (!(key instanceof CryptoKey)) throw new TypeError('The key is not a CryptoKey');
    if (key.algorithm.name !== name) throw failure('InvalidAccessError', 'Key algorithm mismatch');
    if (!key.usages.includes(usage)) throw failure('InvalidAccessError', `The key is not for ${usage}`);
    return { material: materialOf(key), hash: nodeHash(key.algorithm.hash?.name ?? '') };
  }

  function secretKey(algorithm: Algorithm, secret: Bytes, extractable: boolean, usages: string[]): CryptoKey {
    const { name, hash } = algorithm;
    const length = secret.length * 8;
    if (isAes(name) && ![128, 192, 256].includes(length)) throw failure('DataError', 'Invalid key length');
    const about = isAes(name) ? { name, length } : { name, hash: { name: hashOf(hash) }, length };
    return new CryptoKey('secret', extractable, about, usages, { secret });
  }

  function asymmetricKey(
    algorithm: Algorithm,
    type: 'public' | 'private',
    input: object,
    extractable: boolean,
    usages: string[],
  ): CryptoKey {
    const described = ((): Described => {
      try {
        return JSON.parse(crypto.ask('key', '', type, JSON.stringify(input))) as Described;
      } catch {
        throw failure('DataError', 'Invalid keyData');
      }
    })();
    const { name, namedCurve } = algorithm;
    const isEc = name === 'ECDSA';
    if (described.type !== (isEc ? 'ec' : 'rsa')) throw failure('DataError', 'Invalid key type');
    if (isEc && CURVES[namedCurve ?? '']?.node !== described.namedCurve)
      throw failure('DataError', 'Named curve mismatch');
    const spec = { key: described.der, format: 'der', type: type === 'private' ? 'pkcs8' : 'spki' };
    const exponent = described.publicExponent ?? 0;
    const about = isEc
      ? { name, namedCurve: namedCurve! }
      : {
          name,
          modulusLength: described.modulusLength!,
          publicExponent: Uint8Array.of(exponent >> 16, (exponent >> 8) & 255, exponent & 255),
          hash: { name: hashOf(algorithm.hash) },
        };
    return new CryptoKey(type, extractable, about, usages, { spec: JSON.stringify(spec), described });
  }

  function importKey(
    format: unknown,
    data: unknown,
    given: unknown,
    extractable: boolean,
    usages: string[],
  ): CryptoKey {
    const algorithm = algorithmOf(given);
    const { name } = algorithm;
    const isSecret = name === 'HMAC' || isAes(name);
    if (name.startsWith('SHA-')) throw unsupported(`A key of ${name}`);
    if (format === 'jwk') {
      const jwk = data as { k?: string; d?: string };
      if (isSecret) return secretKey(algorithm, Buffer.from(jwk.k as never, 'base64url'), extractable, usages);
      const type = jwk.d === undefined ? 'public' : 'private';
      return asymmetricKey(algorithm, type, { key: JSON.stringify(jwk), format: 'jwk' }, extractable, usages);
    }
    const bytes = bytesOf(data);
    if (format === 'raw' && isSecret) return secretKey(algorithm, Buffer.from(bytes as never), extractable, usages);
    if (format === 'raw' && name === 'ECDSA') {
      const size = CURVES[algorithm.namedCurve ?? '']?.bytes ?? 0;
      if (bytes[0] !== 4 || bytes.length !== 1 + 2 * size) throw failure('DataError', 'Invalid keyData');
      const [x, y] = [bytes.subarray(1, 1 + size), bytes.subarray(1 + size)].map((part) =>
        Buffer.from(part as never).toString('base64url'),
      );
      const key = JSON.stringify({ kty: 'EC', crv: algorithm.namedCurve, x, y });
      return asymmetricKey(algorithm, 'public', { key, format: 'jwk' }, extractable, usages);
    }
    if ((format !== 'pkcs8' && format !== 'spki') || isSecret)
      throw failure('NotSupportedError', `A key of ${name} is not imported as ${format as string}`);
    const type = format === 'pkcs8' ? 'private' : 'public';
    return asymmetricKey(algorithm, type, { key: text(bytes), format: 'der', type: format }, extractable, usages);
  }

  function exportKey(format: unknown, key: unknown): unknown {
    if (!(key instanceof CryptoKey)) throw new TypeError('The key is not a CryptoKey');
    if (!key.extractable) throw failure('InvalidAccessError', 'key is not extractable');
    const material = materialOf(key);
    const common = { key_ops: key.usages, ext: true };
    if ('secret' in material) {
      if (format === 'raw') return toArrayBuffer(material.secret);
      if (format === 'jwk') return { kty: 'oct', k: material.secret.toString('base64url'), ...common };
    } else {
      const { der, jwk } = material.described;
      if (format === 'jwk') return { ...jwk, ...common };
      if (format === (key.type === 'private' ? 'pkcs8' : 'spki')) return toArrayBuffer(fromText(der));
    }
    throw failure('NotSupportedError', `This key is not exported as ${format as string}`);
  }

  function generateKey(given: unknown, extractable: boolean, usages: string[]): CryptoKey {
    const algorithm = algorithmOf(given);
    const isHmac = algorithm.name === 'HMAC';
    if (!isHmac && !isAes(algorithm.name))
      throw failure('NotSupportedError', 'Keys are generated for AES-CBC, AES-GCM and HMAC only');
    const bits = algorithm.length ?? (isHmac ? BLOCK_BYTES[hashOf(algorithm.hash)]! * 8 : 0);
    return secretKey(algorithm, crypto.module.randomBytes(bits / 8), extractable, usages);
  }

  return { CryptoKey, keyFor, importKey, exportKey, generateKey };
}

export type GuestCryptoKeys = ReturnType<typeof createCryptoKeys>;
