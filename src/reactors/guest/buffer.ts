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
      case 'ucs2':
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
      case 'ucs2':
        return latin1(bytes).replace(/([^]?)([^]?)/g, (pair, low: string, high: string) =>
          pair.length < 2 ? '' : String.fromCharCode(low.charCodeAt(0) | (high.charCodeAt(0) << 8)),
        );
      default:
        throw new TypeError(`Unknown encoding: ${String(encoding)}`);
    }
  }

  class Buffer extends Uint8Array {
    static over(bytes: Uint8Array): Buffer {
      return new Buffer(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
    }
    // Wider than Uint8Array.from, as Node's is; TypeScript wants statics to agree.
    static override from(value: never, second?: unknown, third?: unknown): Buffer {
      const input: unknown = value;
      if (typeof input === 'string') return Buffer.over(encode(input, second));
      if (input instanceof ArrayBuffer) return Buffer.over(new Uint8Array(input, second as number, third as number));
      if (ArrayBuffer.isView(input)) return Buffer.over(Uint8Array.from(input as unknown as ArrayLike<number>));
      const data =
        (input as { type?: unknown; data?: unknown } | null)?.type === 'Buffer' && (input as { data: never }).data;
      if (typeof input === 'object' && input !== null) return Buffer.over(Uint8Array.from((data || input) as number[]));
      throw new TypeError('The value must be a string, a buffer, an array or an array-like object');
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
      return /^(utf-?8|hex|base64(url)?|latin1|binary|ascii|utf16le|ucs2)$/i.test(String(name));
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
    write(text: string, offset = 0, encoding?: unknown): number {
      const bytes = encode(text, encoding).subarray(0, this.length - offset);
      this.set(bytes, offset);
      return bytes.length;
    }
    copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
      const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
      target.set(part, targetStart);
      return part.length;
    }
  }

  // The numbers of DataView under the names of Node, in both byte orders.
  const WIDTHS = { Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Uint32: 4, Int32: 4, Float32: 4, Float64: 8 } as const;
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
          value(this: Buffer, value: number, offset = 0) {
            view(this)[`set${type}`](offset, value, order === 'LE');
            return offset + width;
          },
        });
      }
    }
  }
  return Buffer;
}

export type GuestBuffer = ReturnType<typeof createBuffer>;
