import type { GuestBuffer } from './buffer.ts';
import type { GuestCrypto } from './crypto.ts';

/** The package uuid: versions 1, 3, 4 and 5. */
export function createUuid(Buffer: GuestBuffer, crypto: GuestCrypto) {
  type Bytes = InstanceType<GuestBuffer>;
  const PATTERN =
    /^([0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}(-0{4}){3}-0{12}|f{8}(-f{4}){3}-f{12})$/i;
  const NIL = '00000000-0000-0000-0000-000000000000';
  const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  const URL = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';
  let sequence = 0;

  const validate = (text: unknown): text is string => typeof text === 'string' && PATTERN.test(text);

  function parse(text: unknown): Uint8Array {
    if (!validate(text)) throw new TypeError('Invalid UUID');
    return Uint8Array.from(Buffer.from(text.replace(/-/g, '') as never, 'hex'));
  }
  function stringify(bytes: ArrayLike<number>, offset = 0): string {
    const hex = Buffer.from(Array.from(bytes).slice(offset, offset + 16) as never).toString('hex');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
  function marked(bytes: Uint8Array, version: number): string {
    bytes[6] = (bytes[6]! & 0x0f) | (version << 4);
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return stringify(bytes);
  }
  function named(algorithm: string, mark: number) {
    const make = (name: unknown, namespace: unknown): string => {
      const space = typeof namespace === 'string' ? parse(namespace) : Uint8Array.from(namespace as ArrayLike<number>);
      const hash = crypto.module.createHash(algorithm).update(space).update(name).digest() as Bytes;
      return marked(hash.subarray(0, 16), mark);
    };
    return Object.assign(make, { DNS, URL });
  }
  /** Of the present, with random bits where others have the address of a network card. */
  function v1(): string {
    const ticks = BigInt(Date.now()) * 10_000n + 0x01b21dd213814000n + BigInt((sequence = (sequence + 1) % 10_000));
    const bytes = crypto.module.randomBytes(16);
    const hex = ticks.toString(16).padStart(15, '0');
    Buffer.from(`${hex.slice(-8)}${hex.slice(-12, -8)}0${hex.slice(-15, -12)}` as never, 'hex').copy(bytes);
    bytes[10] = bytes[10]! | 1;
    return marked(bytes, 1);
  }
  function v4(options: { random?: ArrayLike<number>; rng?: () => ArrayLike<number> } = {}): string {
    const given = options?.random ?? options?.rng?.();
    return given ? marked(Uint8Array.from(given), 4) : crypto.module.randomUUID();
  }
  function version(text: unknown): number {
    if (!validate(text)) throw new TypeError('Invalid UUID');
    return parseInt(text.charAt(14), 16);
  }
  return { v1, v3: named('md5', 3), v4, v5: named('sha1', 5), NIL, validate, version, parse, stringify };
}
