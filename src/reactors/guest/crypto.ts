import type { GuestBuffer } from './buffer.ts';
import type { HostCall } from './types.ts';

/** What a key may be given as: PEM, DER with its type, or a JWK. */
export interface KeySpec {
  key: string;
  format: 'pem' | 'der' | 'jwk';
  type?: unknown;
  passphrase?: string;
}

/** Node's crypto module, as far as it goes; the host computes, and bytes cross as base64. */
export function createCrypto(host: HostCall, Buffer: GuestBuffer) {
  type Bytes = InstanceType<GuestBuffer>;
  const toBytes = (data: unknown, encoding?: unknown): Bytes => Buffer.from(data as never, encoding);
  const base64 = (data: unknown, encoding?: unknown): string => toBytes(data, encoding).toString('base64');

  // The words of Node for what code may look for.
  const MESSAGES: Record<string, string> = {
    ERR_CRYPTO_INVALID_DIGEST: 'Digest method not supported',
    ERR_CRYPTO_UNKNOWN_CIPHER: 'Unknown cipher',
    ERR_CRYPTO_INVALID_KEYLEN: 'Invalid key length',
    ERR_CRYPTO_INVALID_IV: 'Invalid initialization vector',
    ERR_OSSL_BAD_DECRYPT: 'bad decrypt',
    ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH: 'wrong final block length',
  };

  function ask(operation: string, usual: string, ...texts: string[]): string {
    const answer = host(operation, ...texts);
    if (!answer.startsWith('!')) return answer;
    const code = answer.slice(1);
    const ErrorClass = /KEYLEN|INVALID_IV/.test(code) ? RangeError : Error;
    throw Object.assign(new ErrorClass(MESSAGES[code] ?? usual), code === '' ? {} : { code });
  }
  const askBytes = (operation: string, usual: string, ...texts: string[]): Bytes =>
    toBytes(ask(operation, usual, ...texts).replace(/^=/, ''), 'base64');
  const encoded = (bytes: Bytes, encoding: unknown): unknown =>
    encoding === undefined || encoding === null || encoding === 'buffer' ? bytes : bytes.toString(encoding);

  class Collector {
    readonly parts: Bytes[] = [];
    done = false;
    collect(data: unknown, encoding: unknown): void {
      if (this.done) throw new Error('It has been finished already');
      this.parts.push(toBytes(data, encoding));
    }
    finish(): string {
      if (this.done) throw new Error('It has been finished already');
      this.done = true;
      return Buffer.concat(this.parts).toString('base64');
    }
  }

  class Digest {
    readonly #data = new Collector();
    readonly #finish: (data: string) => Bytes;
    constructor(finish: (data: string) => Bytes, parts: readonly Bytes[] = []) {
      this.#finish = finish;
      this.#data.parts.push(...parts);
    }
    protected branch(): [(data: string) => Bytes, readonly Bytes[]] {
      if (this.#data.done) throw new Error('Digest already called');
      return [this.#finish, this.#data.parts];
    }
    update(data: unknown, encoding?: unknown): this {
      if (this.#data.done) throw new Error('Digest already called');
      this.#data.collect(data, encoding);
      return this;
    }
    digest(encoding?: unknown): unknown {
      if (this.#data.done) throw new Error('Digest already called');
      return encoded(this.#finish(this.#data.finish()), encoding);
    }
  }

  /** An HMAC has no copies, in Node either. */
  class Hash extends Digest {
    copy(): Hash {
      return new Hash(...this.branch());
    }
  }

  /** Everything comes out at the end: of a text that is not authentic, nothing does. */
  class Cipher {
    readonly #data = new Collector();
    readonly #decrypts: boolean;
    readonly #key: [string, string, string];
    #aad: string | undefined;
    #tag: Bytes | undefined;
    #tagBytes: number;
    #padding = true;
    constructor(
      decrypts: boolean,
      algorithm: unknown,
      key: unknown,
      iv: unknown,
      options: { authTagLength?: number } = {},
    ) {
      this.#decrypts = decrypts;
      this.#key = [`${algorithm as string}`, base64(key), iv === null ? '' : base64(iv)];
      this.#tagBytes = options.authTagLength ?? 16;
    }
    update(data: unknown, input?: unknown, output?: unknown): unknown {
      this.#data.collect(data, input);
      return encoded(Buffer.alloc(0), output);
    }
    final(output?: unknown): unknown {
      const usual = this.#decrypts ? 'Unsupported state or unable to authenticate data' : 'The cipher failed';
      const options = JSON.stringify({
        aad: this.#aad,
        padding: this.#padding,
        ...(this.#decrypts ? { tag: this.#tag?.toString('base64') } : { tagBytes: this.#tagBytes }),
      });
      const texts = [...this.#key, this.#data.finish(), options];
      const [data, tag] = ask(this.#decrypts ? 'decrypt' : 'encrypt', usual, ...texts).split('.');
      if (!this.#decrypts) this.#tag = toBytes(tag, 'base64');
      return encoded(toBytes(data, 'base64'), output);
    }
    setAAD(data: unknown): this {
      this.#aad = base64(data);
      return this;
    }
    setAutoPadding(padding = true): this {
      this.#padding = padding;
      return this;
    }
    setAuthTag(tag: unknown, encoding?: unknown): this {
      this.#tag = toBytes(tag, encoding);
      return this;
    }
    getAuthTag(): Bytes {
      if (!this.#data.done || !this.#tag) throw new Error('Invalid state for operation getAuthTag');
      return this.#tag;
    }
  }

  /** A key in the form in which it crosses, and how it is to be used. */
  function keyOf(key: unknown): { spec: string; use: string } {
    const given = (typeof key === 'object' && key !== null && 'key' in key ? key : { key }) as Record<string, unknown>;
    const { key: material, format, type, passphrase, padding, saltLength, dsaEncoding, oaepHash, oaepLabel } = given;
    const use = { padding, saltLength, dsaEncoding, oaepHash, ...(oaepLabel ? { oaepLabel: base64(oaepLabel) } : {}) };
    const spec: KeySpec =
      format === 'jwk'
        ? { key: JSON.stringify(material), format }
        : format === 'der'
          ? { key: base64(material), format, type }
          : { key: toBytes(material).toString(), format: 'pem', passphrase: passphrase as string };
    return { spec: JSON.stringify(spec), use: JSON.stringify(use) };
  }

  function sign(algorithm: unknown, data: unknown, key: unknown): Bytes {
    const { spec, use } = keyOf(key);
    const name = algorithm === null || algorithm === undefined ? '' : `${algorithm as string}`;
    return askBytes('sign', 'The data cannot be signed with this key', name, spec, use, base64(data));
  }
  function verify(algorithm: unknown, data: unknown, key: unknown, signature: unknown): boolean {
    const { spec, use } = keyOf(key);
    const name = algorithm === null || algorithm === undefined ? '' : `${algorithm as string}`;
    const texts = [name, spec, use, base64(data), base64(signature)];
    return ask('verify', 'The signature cannot be verified with this key', ...texts) === 'true';
  }

  class Signature {
    readonly #algorithm: unknown;
    readonly #data = new Collector();
    constructor(algorithm: unknown) {
      this.#algorithm = algorithm;
    }
    update(data: unknown, encoding?: unknown): this {
      this.#data.collect(data, encoding);
      return this;
    }
    sign(key: unknown, encoding?: unknown): unknown {
      return encoded(sign(this.#algorithm, toBytes(this.#data.finish(), 'base64'), key), encoding);
    }
    verify(key: unknown, signature: unknown, encoding?: unknown): boolean {
      return verify(this.#algorithm, toBytes(this.#data.finish(), 'base64'), key, toBytes(signature, encoding));
    }
  }

  const rsa = (operation: string) => (key: unknown, data: unknown) => {
    const { spec, use } = keyOf(key);
    return askBytes(operation, 'The data does not fit this key', spec, use, base64(data));
  };

  function randomBytes(size: number, callback?: (error: null, bytes: Bytes) => void) {
    if (!Number.isInteger(size) || size < 0 || size > 65_536) throw new RangeError('size must be from 0 to 65,536');
    const bytes = size === 0 ? Buffer.alloc(0) : askBytes('random', 'No random bytes', String(size));
    if (callback) void Promise.resolve().then(() => callback(null, bytes));
    return bytes;
  }

  function randomInt(first: number, second?: number): number {
    const [low, high] = second === undefined ? [0, first] : [first, second];
    const range = high - low;
    if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || range <= 0 || range > 2 ** 48 - 1)
      throw new RangeError('The range of the random number is not valid');
    // Numbers past the last whole range are drawn again, so that none is more likely than another.
    for (const limit = 2 ** 48 - (2 ** 48 % range); ;) {
      const drawn = parseInt(randomBytes(6).toString('hex'), 16);
      if (drawn < limit) return low + (drawn % range);
    }
  }

  function getRandomValues<T extends ArrayBufferView>(array: T): T {
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(randomBytes(array.byteLength));
    return array;
  }

  const randomUUID = () => host('uuid');
  const hash = (algorithm: unknown, data: string): Bytes =>
    askBytes('hash', 'Digest method not supported', `${algorithm as string}`, data);
  return {
    ask,
    random: { randomUUID, getRandomValues },
    module: {
      createHash: (algorithm: unknown) => new Hash((data) => hash(algorithm, data)),
      createHmac: (algorithm: unknown, key: unknown) => {
        const secret = base64(key);
        const usual = 'Invalid digest';
        return new Digest((data) => askBytes('hmac', usual, `${algorithm as string}`, secret, data));
      },
      createCipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: object) =>
        new Cipher(false, algorithm, key, iv, options),
      createDecipheriv: (algorithm: unknown, key: unknown, iv: unknown, options?: object) =>
        new Cipher(true, algorithm, key, iv, options),
      createSign: (algorithm: unknown) => new Signature(algorithm),
      createVerify: (algorithm: unknown) => new Signature(algorithm),
      sign,
      verify,
      publicEncrypt: rsa('rsa-encrypt'),
      privateDecrypt: rsa('rsa-decrypt'),
      constants: {
        RSA_PKCS1_PADDING: 1,
        RSA_PKCS1_OAEP_PADDING: 4,
        RSA_PKCS1_PSS_PADDING: 6,
        RSA_PSS_SALTLEN_DIGEST: -1,
        RSA_PSS_SALTLEN_MAX_SIGN: -2,
        RSA_PSS_SALTLEN_AUTO: -2,
      },
      randomBytes,
      randomInt,
      randomUUID,
      getRandomValues,
      timingSafeEqual(a: ArrayBufferView, b: ArrayBufferView): boolean {
        if (a.byteLength !== b.byteLength) throw new RangeError('Input buffers must have the same byte length');
        const [first, second] = [toBytes(a), toBytes(b)];
        return first.reduce((difference, byte, at) => difference | (byte ^ second[at]!), 0) === 0;
      },
    },
  };
}

export type GuestCrypto = ReturnType<typeof createCrypto>;
