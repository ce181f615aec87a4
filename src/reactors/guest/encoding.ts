/** Text encodings, which the language itself has none of; Buffer and the crypto module are built on them. */
export function createEncoding() {
  const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const REVERSE = new Map([...BASE64].map((letter, value) => [letter, value] as const));
  REVERSE.set('-', 62).set('_', 63);
  // Longer argument lists overflow the stack of Function.prototype.apply.
  const CHUNK = 8192;

  function latin1(bytes: Uint8Array): string {
    let text = '';
    for (let at = 0; at < bytes.length; at += CHUNK) {
      text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
    }
    return text;
  }

  function utf8(text: string): Uint8Array {
    const binary = unescape(encodeURIComponent(text.toWellFormed()));
    return Uint8Array.from({ length: binary.length }, (_, at) => binary.charCodeAt(at));
  }

  /** Decodes as the WHATWG decoder does: each maximal part of an invalid sequence becomes one U+FFFD. */
  function fromUtf8(bytes: Uint8Array, fatal = false): string {
    const units: number[] = [];
    let text = '';
    for (let at = 0; at < bytes.length;) {
      const lead = bytes[at]!;
      at += 1;
      let needed = lead < 0x80 ? 0 : lead < 0xc2 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : -1;
      let point = needed <= 0 ? lead : lead & (0x3f >> needed);
      let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      let valid = needed >= 0;
      for (; needed > 0; needed -= 1) {
        const byte = bytes[at];
        if (byte === undefined || byte < low || byte > high) {
          valid = false;
          break;
        }
        point = (point << 6) | (byte & 0x3f);
        at += 1;
        low = 0x80;
        high = 0xbf;
      }
      if (!valid && fatal) throw new TypeError('The encoded data was not valid utf-8');
      if (!valid) units.push(0xfffd);
      else if (point < 0x10000) units.push(point);
      else units.push(0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff));
      if (units.length >= CHUNK) text += String.fromCharCode(...units.splice(0));
    }
    return text + String.fromCharCode(...units);
  }

  function base64(bytes: Uint8Array): string {
    let text = '';
    for (let at = 0; at < bytes.length; at += 3) {
      const [a, b = 0, c = 0] = bytes.subarray(at, at + 3) as unknown as [number, number?, number?];
      const word = (a << 16) | (b << 8) | c;
      text += BASE64[word >> 18]! + BASE64[(word >> 12) & 63]! + BASE64[(word >> 6) & 63]! + BASE64[word & 63]!;
    }
    const missing = (3 - (bytes.length % 3)) % 3;
    return missing === 0 ? text : text.slice(0, -missing) + '='.repeat(missing);
  }

  /** Takes both alphabets, with padding or without, and leaves out what is in neither, as Buffer does. */
  function fromBase64(text: string): Uint8Array {
    const bytes: number[] = [];
    let word = 0;
    let bits = 0;
    for (const letter of text) {
      if (letter === '=') break;
      const value = REVERSE.get(letter);
      if (value === undefined) continue;
      word = ((word << 6) | value) & 0xfffff;
      bits += 6;
      if (bits >= 8) bytes.push((word >> (bits -= 8)) & 0xff);
    }
    return Uint8Array.from(bytes);
  }

  function bytesOf(input: unknown): Uint8Array {
    if (input === undefined) return new Uint8Array();
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    if (input instanceof ArrayBuffer) return new Uint8Array(input);
    throw new TypeError('The input must be an ArrayBuffer or a view of one');
  }

  class TextEncoder {
    readonly encoding = 'utf-8';
    encode(text: unknown = ''): Uint8Array {
      return utf8(String(text));
    }
  }

  class TextDecoder {
    readonly encoding = 'utf-8';
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      if (!/^\s*(unicode-1-1-)?utf-?8\s*$/i.test(String(label))) throw new RangeError('Only utf-8 can be decoded');
      this.fatal = Boolean(options.fatal);
      this.ignoreBOM = Boolean(options.ignoreBOM);
    }
    decode(input?: unknown): string {
      const text = fromUtf8(bytesOf(input), this.fatal);
      return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
    }
  }

  function invalidCharacter(): Error {
    const error = new Error('The string contains invalid characters');
    error.name = 'InvalidCharacterError';
    return error;
  }

  function btoa(value: unknown): string {
    const text = String(value);
    if (/[^\0-\xff]/.test(text)) throw invalidCharacter();
    return base64(Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)));
  }

  function atob(value: unknown): string {
    const text = String(value)
      .replace(/[\t\n\f\r ]/g, '')
      .replace(/^((?:.{4})*.{2})==$|^((?:.{4})*.{3})=$/s, '$1$2');
    if (/[^A-Za-z0-9+/]/.test(text) || text.length % 4 === 1) throw invalidCharacter();
    return latin1(fromBase64(text));
  }

  const globals = { TextEncoder, TextDecoder, atob, btoa };
  return { latin1, utf8, fromUtf8, base64, fromBase64, bytesOf, globals };
}

export type GuestEncoding = ReturnType<typeof createEncoding>;
