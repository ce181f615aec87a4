/** The headers of requests and answers: names in any case, several values joined. */
export function createHeaders() {
  const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

  const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

  function nameOf(name: unknown): string {
    const text = `${name as string}`;
    if (!NAME.test(text)) throw new TypeError(`Invalid header name: ${text}`);
    return text.toLowerCase();
  }
  function valueOf(value: unknown): string {
    const text = `${value as string}`.trim();
    if (!VALUE.test(text)) throw new TypeError('Invalid header value');
    return text;
  }

  class Headers {
    readonly #values = new Map<string, string[]>();

    constructor(init?: unknown) {
      if (init === undefined || init === null) return;
      if (typeof init !== 'object') throw new TypeError('Headers are made of an object or of pairs');
      const pairs = Symbol.iterator in init ? (init as Iterable<[unknown, unknown]>) : Object.entries(init);
      for (const [name, value] of pairs) {
        for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) this.append(name, one);
      }
    }
    append(name: unknown, value: unknown): void {
      const key = nameOf(name);
      this.#values.set(key, [...(this.#values.get(key) ?? []), valueOf(value)]);
    }
    set(name: unknown, value: unknown): void {
      this.#values.set(nameOf(name), [valueOf(value)]);
    }
    delete(name: unknown): void {
      this.#values.delete(nameOf(name));
    }
    get(name: unknown): string | null {
      return this.#values.get(nameOf(name))?.join(', ') ?? null;
    }
    getSetCookie(): string[] {
      return [...(this.#values.get('set-cookie') ?? [])];
    }
    has(name: unknown): boolean {
      return this.#values.has(nameOf(name));
    }
    forEach(callback: (value: string, name: string, headers: Headers) => void): void {
      for (const [name, value] of this) callback(value, name, this);
    }
    /** As node-fetch has it. */
    raw(): Record<string, string[]> {
      return Object.fromEntries([...this.#values].map(([name, values]) => [name, [...values]]));
    }
    *entries(): Generator<[string, string]> {
      for (const name of [...this.#values.keys()].sort()) {
        const values = this.#values.get(name)!;
        if (name === 'set-cookie') for (const value of values) yield [name, value];
        else yield [name, values.join(', ')];
      }
    }
    *keys(): Generator<string> {
      for (const [name] of this.entries()) yield name;
    }
    *values(): Generator<string> {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator](): Generator<[string, string]> {
      return this.entries();
    }
    get [Symbol.toStringTag](): string {
      return 'Headers';
    }
  }
  return Headers;
}

export type GuestHeaders = ReturnType<typeof createHeaders>;
