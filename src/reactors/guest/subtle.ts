import type { GuestBuffer } from './buffer.ts';
import type { GuestCrypto } from './crypto.ts';
import type { GuestCryptoKeys } from './crypto-keys.ts';
import type { Algorithm, GuestCryptoTerms } from './crypto-terms.ts';

export interface SubtleParts {
  crypto: GuestCrypto;
  Buffer: GuestBuffer;
  terms: GuestCryptoTerms;
  keys: GuestCryptoKeys;
}

/** `crypto.subtle` for the algorithms that there are; others are refused with their list. */
export function createSubtle({ crypto, Buffer, terms, keys }: SubtleParts) {
  type Bytes = InstanceType<GuestBuffer>;
  const { failure, algorithmOf, hashOf, nodeHash, bytesOf, toArrayBuffer, text, fromText } = terms;
  const { CryptoKey, keyFor, importKey, exportKey, generateKey } = keys;

  function compute(operation: string, ...texts: string[]): string {
    try {
      return crypto.ask(operation, '', ...texts);
    } catch {
      throw failure('OperationError', 'The operation failed for an operation-specific reason');
    }
  }

  const hmac = (hash: string, secret: Bytes, data: unknown): Bytes =>
    fromText(compute('hmac', hash, text(secret), text(bytesOf(data))));

  /** Hash and further parameters of a signature, as Node names them. */
  function signing({ name, hash, saltLength }: Algorithm, keyHash: string): [hash: string, use: string] {
    if (name === 'ECDSA') return [nodeHash(hashOf(hash)), JSON.stringify({ dsaEncoding: 'ieee-p1363' })];
    return [keyHash, JSON.stringify(name === 'RSA-PSS' ? { padding: 6, saltLength } : { padding: 1 })];
  }

  function sign(given: unknown, key: unknown, data: unknown): Bytes {
    const algorithm = algorithmOf(given);
    const { material, hash: keyHash } = keyFor(key, 'sign', algorithm.name);
    if ('secret' in material) return hmac(keyHash, material.secret, data);
    const [hash, use] = signing(algorithm, keyHash);
    return fromText(compute('sign', hash, material.spec, use, text(bytesOf(data))));
  }

  function verify(given: unknown, key: unknown, signature: unknown, data: unknown): boolean {
    const algorithm = algorithmOf(given);
    const { material, hash: keyHash } = keyFor(key, 'verify', algorithm.name);
    if ('secret' in material) {
      const [expected, presented] = [hmac(keyHash, material.secret, data), bytesOf(signature)];
      return expected.length === presented.length && crypto.module.timingSafeEqual(expected, presented);
    }
    const [hash, use] = signing(algorithm, keyHash);
    return compute('verify', hash, material.spec, use, text(bytesOf(data)), text(bytesOf(signature))) === 'true';
  }

  type Direction = 'encrypt' | 'decrypt';

  function rsa(direction: Direction, { label }: Algorithm, [spec, hash]: [string, string], data: Bytes): Bytes {
    const use = { padding: 4, oaepHash: hash, ...(label === undefined ? {} : { oaepLabel: text(bytesOf(label)) }) };
    return fromText(compute(`rsa-${direction}`, spec, JSON.stringify(use), text(data)).replace(/^=/, ''));
  }

  function aes(direction: Direction, algorithm: Algorithm, secret: Bytes, data: Bytes): Bytes {
    const mode = algorithm.name.slice(4).toLowerCase();
    const { iv, additionalData, tagLength = 128 } = algorithm;
    const isGcm = mode === 'gcm';
    const tagBytes = isGcm ? Number(tagLength) / 8 : 0;
    const opens = isGcm && direction === 'decrypt';
    if (opens && data.length < tagBytes) throw failure('OperationError', 'The provided data is too small');
    const end = opens ? data.length - tagBytes : data.length;
    const options = {
      ...(isGcm && additionalData !== undefined ? { aad: text(bytesOf(additionalData)) } : {}),
      ...(opens ? { tag: text(data.slice(end)) } : {}),
      ...(isGcm && !opens ? { tagBytes } : {}),
    };
    const texts = [text(secret), text(bytesOf(iv)), text(data.slice(0, end)), JSON.stringify(options)];
    const [out, tag] = compute(direction, `aes-${secret.length * 8}-${mode}`, ...texts).split('.');
    // The host answers an encryption with both.
    return Buffer.concat([fromText(out), fromText(direction === 'encrypt' ? tag : '')]);
  }

  function cipher(direction: Direction, given: unknown, key: unknown, data: unknown): ArrayBuffer {
    const algorithm = algorithmOf(given);
    const { material, hash } = keyFor(key, direction, algorithm.name);
    const bytes = bytesOf(data);
    return toArrayBuffer(
      'secret' in material
        ? aes(direction, algorithm, material.secret, bytes)
        : rsa(direction, algorithm, [material.spec, hash], bytes),
    );
  }

  // Async functions, so that what is wrong with arguments rejects rather than throws.
  const subtle = {
    digest: async (algorithm: unknown, data: unknown) =>
      toArrayBuffer(fromText(compute('hash', nodeHash(hashOf(algorithm)), text(bytesOf(data))))),
    importKey: async (format: unknown, data: unknown, algorithm: unknown, extractable: unknown, usages: string[]) =>
      importKey(format, data, algorithm, Boolean(extractable), usages),
    exportKey: async (format: unknown, key: unknown) => exportKey(format, key),
    generateKey: async (algorithm: unknown, extractable: unknown, usages: string[]) =>
      generateKey(algorithm, Boolean(extractable), usages),
    sign: async (algorithm: unknown, key: unknown, data: unknown) => toArrayBuffer(sign(algorithm, key, data)),
    verify: async (algorithm: unknown, key: unknown, signature: unknown, data: unknown) =>
      verify(algorithm, key, signature, data),
    encrypt: async (algorithm: unknown, key: unknown, data: unknown) => cipher('encrypt', algorithm, key, data),
    decrypt: async (algorithm: unknown, key: unknown, data: unknown) => cipher('decrypt', algorithm, key, data),
  };
  return { subtle, CryptoKey };
}
