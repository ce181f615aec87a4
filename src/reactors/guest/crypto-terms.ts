import type { GuestAbort } from './abort.ts';
import type { GuestBuffer } from './buffer.ts';

/** As code names an algorithm, with what belongs to it; `name` as the standard writes it. */
export interface Algorithm {
  name: string;
  hash?: { name: string };
  length?: number;
  namedCurve?: string;
  modulusLength?: number;
  publicExponent?: Uint8Array;
  [parameter: string]: unknown;
}

/** What all of `crypto.subtle` goes by: the algorithms that there are, its errors, and how bytes come and go. */
export function createCryptoTerms(Buffer: GuestBuffer, abort: GuestAbort) {
  type Bytes = InstanceType<GuestBuffer>;

  const NAMES = [
    'AES-CBC',
    'AES-GCM',
    'ECDSA',
    'HMAC',
    'RSA-OAEP',
    'RSA-PSS',
    'RSASSA-PKCS1-v1_5',
    'SHA-1',
    'SHA-256',
    'SHA-384',
    'SHA-512',
  ];

  const failure = (name: string, message: string): Error => new abort.globals.DOMException(message, name);
  const unsupported = (what: string): Error =>
    failure('NotSupportedError', `${what} is not available. Available: ${NAMES.join(', ')}`);

  function algorithmOf(given: unknown): Algorithm {
    const { name, ...rest } = (typeof given === 'string' ? { name: given } : given) as Algorithm;
    const known = NAMES.find((one) => one.toLowerCase() === `${name}`.toLowerCase());
    if (known === undefined) throw unsupported(`${name}`);
    return { ...rest, name: known };
  }
  function hashOf(given: unknown): string {
    const { name } = algorithmOf(given);
    if (!name.startsWith('SHA-')) throw unsupported(`${name} as a hash`);
    return name;
  }
  const nodeHash = (name: string): string => name.replace('-', '').toLowerCase();
  const isAes = (name: string): boolean => name.startsWith('AES-');
  const bytesOf = (data: unknown): Bytes => {
    if (data instanceof ArrayBuffer) return Buffer.from(data as never);
    if (!ArrayBuffer.isView(data)) throw new TypeError('The data is neither an ArrayBuffer nor a view of one');
    return Buffer.from(data.buffer as never, data.byteOffset, data.byteLength);
  };
  const toArrayBuffer = (bytes: Bytes): ArrayBuffer => Uint8Array.from(bytes).buffer;
  /** Bytes as they cross to the host, and back. */
  const text = (bytes: Bytes): string => bytes.toString('base64');
  const fromText = (given: unknown): Bytes => Buffer.from(given as never, 'base64');
  return { failure, unsupported, algorithmOf, hashOf, nodeHash, isAes, bytesOf, toArrayBuffer, text, fromText };
}

export type GuestCryptoTerms = ReturnType<typeof createCryptoTerms>;
