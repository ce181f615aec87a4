/** Node's querystring. */
export function createQuerystring() {
  type Value = string | string[];

  function escape(text: unknown): string {
    return encodeURIComponent(`${text as string}`);
  }
  function unescape(text: string): string {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }
  function parse(text: unknown, separator = '&', equals = '=', options: { maxKeys?: number } = {}) {
    const result = Object.create(null) as Record<string, Value>;
    if (typeof text !== 'string' || text === '') return result;
    const { maxKeys = 1000 } = options;
    const parts = text.split(separator);
    for (const part of maxKeys > 0 ? parts.slice(0, maxKeys) : parts) {
      if (part === '') continue;
      const at = part.indexOf(equals);
      const read = (piece: string): string => unescape(piece.replace(/\+/g, ' '));
      const name = read(at < 0 ? part : part.slice(0, at));
      const value = at < 0 ? '' : read(part.slice(at + equals.length));
      const before = result[name];
      result[name] = before === undefined ? value : [before, value].flat();
    }
    return result;
  }
  function stringify(value: unknown, separator = '&', equals = '='): string {
    if (typeof value !== 'object' || value === null) return '';
    const text = (item: unknown): string => {
      const isShown = ['string', 'bigint', 'boolean'].includes(typeof item) || Number.isFinite(item);
      return isShown ? escape(item) : '';
    };
    return Object.entries(value)
      .flatMap(([name, items]) => [items as unknown].flat().map((item) => `${escape(name)}${equals}${text(item)}`))
      .join(separator);
  }
  return { parse, stringify, decode: parse, encode: stringify, escape, unescape };
}

export type GuestQuerystring = ReturnType<typeof createQuerystring>;
