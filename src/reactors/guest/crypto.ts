import type { GuestBuffer } from './buffer.ts';
import type { HostCall } from './types.ts';

/** The hashes, MACs and random bytes of Node's crypto module. The host computes; bytes cross as base64. */
export function createCrypto(host: HostCall, Buffer: GuestBuffer) {
  const toBytes = (data: unknown, encoding?: unknown) => Buffer.from(data as never, encoding);

  function ask(operation: string, ...texts: string[]) {
    const answer = host(operation, ...texts);
    if (answer === '')
      throw Object.assign(new Error('Digest method not supported'), { code: 'ERR_CRYPTO_INVALID_DIGEST' });
    return Buffer.from(answer as never, 'base64');
  }

  class Digest {
    readonly #parts: InstanceType<GuestBuffer>[] = [];
    readonly #finish: (data: string) => InstanceType<GuestBuffer>;
    #done = false;

    constructor(finish: (data: string) => InstanceType<GuestBuffer>) {
      this.#finish = finish;
    }
    update(data: unknown, encoding?: unknown): this {
      if (this.#done) throw new Error('Digest already called');
      this.#parts.push(toBytes(data, encoding));
      return this;
    }
    digest(encoding?: unknown): unknown {
      if (this.#done) throw new Error('Digest already called');
      this.#done = true;
      const bytes = this.#finish(Buffer.concat(this.#parts).toString('base64'));
      return encoding === undefined || encoding === 'buffer' ? bytes : bytes.toString(encoding);
    }
  }

  function randomBytes(size: number) {
    if (!Number.isInteger(size) || size < 0 || size > 65_536) throw new RangeError('size must be from 0 to 65,536');
    return size === 0 ? Buffer.alloc(0) : ask('random', String(size));
  }

  function getRandomValues<T extends ArrayBufferView>(array: T): T {
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(randomBytes(array.byteLength));
    return array;
  }

  const randomUUID = () => host('uuid');
  return {
    global: { randomUUID, getRandomValues },
    module: {
      createHash: (algorithm: unknown) => new Digest((data) => ask('hash', String(algorithm), data)),
      createHmac: (algorithm: unknown, key: unknown) => {
        const secret = toBytes(key).toString('base64');
        return new Digest((data) => ask('hmac', String(algorithm), secret, data));
      },
      randomBytes,
      randomUUID,
      getRandomValues,
      timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
        if (a.length !== b.length) throw new RangeError('Input buffers must have the same byte length');
        return a.reduce((difference, byte, at) => difference | (byte ^ b[at]!), 0) === 0;
      },
    },
  };
}

export type GuestCrypto = ReturnType<typeof createCrypto>;
