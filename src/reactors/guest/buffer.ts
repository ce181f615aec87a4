import type { GuestEncoding } from './encoding.ts';

/** Node's Buffer, as far as reactors use it: encodings, joining, comparing, searching and numbers. */
export function createBuffer({ latin1, utf8, fromUtf8, base64, fromBase64 }: GuestEncoding) {
  function encode(text: string, encoding: unknown): Uint8Array {
    switch (String((encoding as string | undefined) ?? 'utf8').toLowerCase()) {
      case 'utf8':
      case 'utf-8':
        return utf8(text);
      case 'hex': {
        const pairs = /^(?:[0-9a-f]{2})*/i.exec(text)![0].match(/../g) ?? [];
        return Uint8Array.from(pairs, (pair) => parseInt(pair, 16));
      }
      case 'base64':
      case 'base64url':
        return fromBase64(text);
      case 'latin1':
      case 'binary':
      case 'ascii':
        return Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) & 0xff);
      case 'utf16le':
      case 'utf-16le':
      case 'ucs2':
      case 'ucs-2':
        return Uint8Array.from({ length: text.length * 2 }, (_, at) => text.charCodeAt(at >> 1) >> (8 * (at & 1)));
      default:
        throw new TypeError(`Unknown encoding: ${String(encoding)}`);
    }
  }

  function decode(bytes: Uint8Array, encoding: unknown): string {
    switch (String((encoding as string | undefined) ?? 'utf8').toLowerCase()) {
      case 'utf8':
      case 'utf-8':
        return fromUtf8(bytes);
      case 'hex':
        return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      case 'base64':
        return base64(bytes);
      case 'base64url':
        return base64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
      case 'latin1':
      case 'binary':
        return latin1(bytes);
      case 'ascii':
        return latin1(bytes.map((byte) => byte & 0x7f));
      case 'utf16le':
      case 'utf-16le':
      case 'ucs2':
      case 'ucs-2':
        return latin1(bytes).replace(/([^]?)([^]?)/g, (pair, low: string, high: string) =>
          pair.length < 2 ? '' : String.fromCharCode(low.charCodeAt(0) | (high.charCodeAt(0) << 8)),
        );
      default:
        throw new TypeError(`Unknown encoding: ${String(encoding)}`);
    }
  }

  /** What is looked for or filled in: a text, bytes or one byte. */
  function bytesOf(value: unknown, encoding: unknown): Uint8Array {
    if (typeof value === 'string') return encode(value, encoding);
    return ArrayBuffer.isView(value) ? (value as Uint8Array) : Uint8Array.of(Number(value));
  }

  function refuse(): never {
    throw new TypeError('The value must be a string, a buffer, an array or an array-like object');
  }

  function viewOf(memory: ArrayBuffer, offset: unknown, length: unknown): Uint8Array {
    return new Uint8Array(memory, offset as number, length as number);
  }

  /** A copy of what a value holds. */
  function bytesFrom(value: unknown, encoding: unknown): Uint8Array {
    if (typeof value === 'string') return encode(value, encoding);
    if (ArrayBuffer.isView(value)) return Uint8Array.from(value as unknown as ArrayLike<number>);
    if (typeof value !== 'object' || value === null) return refuse();
    const plain: unknown = value.valueOf();
    if (typeof plain === 'string') return encode(plain, encoding);
    const { type, data } = value as { type?: unknown; data?: unknown };
    return Uint8Array.from((type === 'Buffer' && data ? data : value) as number[]);
  }

  class Buffer extends Uint8Array {
    /** Node's deprecated one, which old code is full of: what `from` takes, or a size. */
    constructor(value: unknown, second?: unknown, third?: unknown) {
      if (typeof value === 'number') {
        if (typeof second === 'string') throw new TypeError('The "string" argument must be of type string');
        super(value);
        return;
      }
      const whole = value instanceof ArrayBuffer ? viewOf(value, second, third) : bytesFrom(value, second);
      super(whole.buffer as ArrayBuffer, whole.byteOffset, whole.byteLength);
    }
    // What is sliced off is made without the detour by which `Buffer` may be called.
    static get [Symbol.species](): typeof Buffer {
      return Buffer;
    }
    static over(bytes: Uint8Array): Buffer {
      return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    // Wider than Uint8Array.from, as Node's is; TypeScript wants statics to agree.
    static override from(value: never, second?: unknown, third?: unknown): Buffer {
      if (typeof value === 'number') return refuse();
      return new Buffer(value, second, third);
    }
    static alloc(size: number, fill?: unknown, encoding?: unknown): Buffer {
      const buffer = new Buffer(size);
      if (fill === undefined) return buffer;
      const pattern = typeof fill === 'string' ? encode(fill, encoding) : Uint8Array.of(Number(fill));
      for (let at = 0; pattern.length > 0 && at < size; at += 1) buffer[at] = pattern[at % pattern.length]!;
      return buffer;
    }
    static allocUnsafe(size: number): Buffer {
      return new Buffer(size);
    }
    static isBuffer(value: unknown): value is Buffer {
      return value instanceof Buffer;
    }
    static isEncoding(name: unknown): boolean {
      return /^(utf-?8|hex|base64(url)?|latin1|binary|ascii|utf-?16le|ucs-?2)$/i.test(String(name));
    }
    static byteLength(value: string | ArrayBufferLike, encoding?: unknown): number {
      return typeof value === 'string' ? encode(value, encoding).length : value.byteLength;
    }
    static concat(list: Uint8Array[], total = list.reduce((sum, { length }) => sum + length, 0)): Buffer {
      const joined = new Buffer(total);
      let at = 0;
      for (const part of list) {
        joined.set(part.subarray(0, Math.max(total - at, 0)), Math.min(at, total));
        at += part.length;
      }
      return joined;
    }
    static compare(a: Uint8Array, b: Uint8Array): number {
      for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
        if (a[at] !== b[at]) return a[at]! < b[at]! ? -1 : 1;
      }
      return Math.sign(a.length - b.length);
    }
    override toString(encoding?: unknown, start = 0, end = this.length): string {
      return decode(this.subarray(start, end), encoding);
    }
    toJSON(): { type: 'Buffer'; data: number[] } {
      return { type: 'Buffer', data: Array.from(this) };
    }
    equals(other: Uint8Array): boolean {
      return Buffer.compare(this, other) === 0;
    }
    compare(other: Uint8Array): number {
      return Buffer.compare(this, other);
    }
    // As in Node, and unlike in Uint8Array, a slice is a view of the same memory.
    override slice(start?: number, end?: number): never {
      return this.subarray(start, end) as never;
    }
    write(text: string, first?: unknown, second?: unknown, third?: unknown): number {
      const [offset, length] = [first, second].map((value) => (typeof value === 'number' ? value : undefined));
      const encoding = [first, second, third].find((value) => typeof value === 'string');
      return this.#write(text, offset ?? 0, length ?? Infinity, encoding);
    }
    #write(text: string, offset: number, length: number, encoding: unknown): number {
      const bytes = encode(text, encoding).subarray(0, Math.min(length, this.length - offset));
      this.set(bytes, offset);
      return bytes.length;
    }
    override fill(value: unknown, start: unknown = 0, end: unknown = this.length, encoding?: unknown): this {
      const name = [start, end, encoding].find((one) => typeof one === 'string');
      const [from, to] = [start, end].map((one, at) => (typeof one === 'number' ? one : at === 0 ? 0 : this.length));
      const pattern = bytesOf(value, name);
      for (let at = from!; pattern.length > 0 && at < to!; at += 1) this[at] = pattern[(at - from!) % pattern.length]!;
      return this;
    }
    override indexOf(value: unknown, from: unknown = 0, encoding?: unknown): number {
      const wanted = bytesOf(value, typeof from === 'string' ? from : encoding);
      const first = typeof from === 'number' ? (from < 0 ? Math.max(this.length + from, 0) : from) : 0;
      for (let at = first; at <= this.length - wanted.length; at += 1) {
        if (wanted.every((byte, index) => this[at + index] === byte)) return at;
      }
      return -1;
    }
    override lastIndexOf(value: unknown, from = this.length, encoding?: unknown): number {
      const wanted = bytesOf(value, encoding);
      for (let at = Math.min(from, this.length - wanted.length); at >= 0; at -= 1) {
        if (wanted.every((byte, index) => this[at + index] === byte)) return at;
      }
      return -1;
    }
    override includes(value: unknown, from?: unknown, encoding?: unknown): boolean {
      return this.indexOf(value, from, encoding) >= 0;
    }
    swap16(): this {
      return this.#swap(2);
    }
    swap32(): this {
      return this.#swap(4);
    }
    swap64(): this {
      return this.#swap(8);
    }
    #swap(width: number): this {
      if (this.length % width !== 0) throw new RangeError(`Buffer size must be a multiple of ${width * 8}-bits`);
      for (let at = 0; at < this.length; at += width) this.subarray(at, at + width).reverse();
      return this;
    }
    // Numbers of up to six bytes, as Node reads and writes them.
    readUIntBE(offset: number, length: number): number {
      return this.subarray(offset, offset + length).reduce((sum, byte) => sum * 256 + byte, 0);
    }
    readUIntLE(offset: number, length: number): number {
      return this.subarray(offset, offset + length).reduceRight((sum, byte) => sum * 256 + byte, 0);
    }
    readIntBE(offset: number, length: number): number {
      const value = this.readUIntBE(offset, length);
      return value < 2 ** (8 * length - 1) ? value : value - 2 ** (8 * length);
    }
    readIntLE(offset: number, length: number): number {
      const value = this.readUIntLE(offset, length);
      return value < 2 ** (8 * length - 1) ? value : value - 2 ** (8 * length);
    }
    writeUIntBE(value: number, offset: number, length: number): number {
      for (let at = 0; at < length; at += 1) this[offset + length - 1 - at] = Math.floor(value / 256 ** at);
      return offset + length;
    }
    writeUIntLE(value: number, offset: number, length: number): number {
      for (let at = 0; at < length; at += 1) this[offset + at] = Math.floor(value / 256 ** at);
      return offset + length;
    }
    copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
      const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
      target.set(part, targetStart);
      return part.length;
    }
  }

  // The numbers of DataView under the names of Node, in both byte orders.
  const WIDTHS = {
    ...{ Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Uint32: 4, Int32: 4, Float32: 4, Float64: 8 },
    ...{ BigInt64: 8, BigUint64: 8 },
  } as const;
  const NAMES: Record<string, string> = { Float32: 'Float', Float64: 'Double' };
  const view = (buffer: Buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  for (const [type, width] of Object.entries(WIDTHS) as [keyof typeof WIDTHS, number][]) {
    for (const order of width === 1 ? [''] : ['LE', 'BE']) {
      for (const name of new Set([NAMES[type] ?? type, (NAMES[type] ?? type).replace('Uint', 'UInt')])) {
        Object.defineProperty(Buffer.prototype, `read${name}${order}`, {
          value(this: Buffer, offset = 0) {
            return view(this)[`get${type}`](offset, order === 'LE');
          },
        });
        Object.defineProperty(Buffer.prototype, `write${name}${order}`, {
          value(this: Buffer, value: never, offset = 0) {
            view(this)[`set${type}`](offset, value, order === 'LE');
            return offset + width;
          },
        });
      }
    }
  }
  // A negative number is written as its two's complement; and Node spells the others in two ways.
  for (const order of ['BE', 'LE']) {
    const aliases = { [`readUint${order}`]: `readUInt${order}` };
    for (const name of ['writeUint', 'writeInt']) aliases[name + order] = `writeUInt${order}`;
    for (const [alias, name] of Object.entries(aliases)) {
      const value: unknown = Reflect.get(Buffer.prototype, name);
      Object.defineProperty(Buffer.prototype, alias, { value });
    }
  }
  // `Buffer(…)` is what `new Buffer(…)` is; `class Sub extends Buffer` stays what it is.
  const callable = new Proxy(Buffer, {
    apply: (_target, _self, [value, second, third]: unknown[]) => new Buffer(value, second, third),
  });
  Object.defineProperty(Buffer.prototype, 'constructor', { value: callable, writable: true, configurable: true });
  return callable;
}

export type GuestBuffer = ReturnType<typeof createBuffer>;
