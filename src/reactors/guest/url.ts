import type { HostCall } from './types.ts';

type Pairs = [string, string][];
type Parts = Record<string, string>;

/** URL and URLSearchParams. The host parses, as the rules of the URL standard are no small thing to write again. */
export function createUrl(host: HostCall) {
  const decode = (text: string) => {
    const spaced = text.replace(/\+/g, ' ');
    try {
      return decodeURIComponent(spaced);
    } catch {
      return spaced;
    }
  };
  const encode = (text: string) =>
    encodeURIComponent(text.toWellFormed())
      .replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
      .replace(/%20/g, '+');

  class URLSearchParams {
    #pairs: Pairs = [];
    readonly #changed: (text: string) => void;

    constructor(init: unknown = '', changed: (text: string) => void = () => undefined) {
      this.#changed = changed;
      if (typeof init === 'object' && init !== null) {
        const pairs = Symbol.iterator in init ? [...(init as Iterable<[unknown, unknown]>)] : Object.entries(init);
        this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
      } else {
        this.reset(String(init));
      }
    }
    /** Takes over a query without telling the URL that it came from. */
    reset(query: string): void {
      this.#pairs = query
        .replace(/^\?/, '')
        .split('&')
        .filter((part) => part !== '')
        .map((part) => {
          const at = part.indexOf('=');
          return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
        });
    }
    #replace(pairs: Pairs): void {
      this.#pairs = pairs;
      this.#changed(this.toString());
    }
    append(name: unknown, value: unknown): void {
      this.#replace([...this.#pairs, [String(name), String(value)]]);
    }
    delete(name: unknown): void {
      this.#replace(this.#pairs.filter(([other]) => other !== String(name)));
    }
    get(name: unknown): string | null {
      return this.#pairs.find(([other]) => other === String(name))?.[1] ?? null;
    }
    getAll(name: unknown): string[] {
      return this.#pairs.filter(([other]) => other === String(name)).map(([, value]) => value);
    }
    has(name: unknown): boolean {
      return this.#pairs.some(([other]) => other === String(name));
    }
    set(name: unknown, value: unknown): void {
      const at = this.#pairs.findIndex(([other]) => other === String(name));
      if (at < 0) return this.append(name, value);
      const rest = this.#pairs.filter(([other], index) => other !== String(name) || index === at);
      this.#replace(rest.map((pair) => (pair[0] === String(name) ? [pair[0], String(value)] : pair)));
    }
    sort(): void {
      this.#replace([...this.#pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
    }
    forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void {
      for (const [name, value] of this.#pairs) callback(value, name, this);
    }
    get size(): number {
      return this.#pairs.length;
    }
    entries() {
      return this.#pairs.map(([name, value]) => [name, value])[Symbol.iterator]();
    }
    keys() {
      return this.#pairs.map(([name]) => name)[Symbol.iterator]();
    }
    values() {
      return this.#pairs.map(([, value]) => value)[Symbol.iterator]();
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString(): string {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    }
  }

  function ask(...texts: string[]): Parts {
    const answer = host('url', ...texts);
    if (answer !== '') return JSON.parse(answer) as Parts;
    throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' });
  }

  let part: (url: URL, name: string) => string;
  let change: (url: URL, name: string, value: string) => void;

  class URL {
    #parts: Parts;
    readonly searchParams: URLSearchParams;

    constructor(url: unknown, base?: string) {
      this.#parts = base === undefined ? ask('parse', String(url)) : ask('parse', String(url), String(base));
      this.searchParams = new URLSearchParams(this.#parts['search'], (query) => {
        this.#parts = ask('set', this.href, 'search', query);
      });
    }
    static canParse(url: unknown, base?: string): boolean {
      try {
        return new URL(url, base) instanceof URL;
      } catch {
        return false;
      }
    }
    static {
      part = (url, name) => url.#parts[name]!;
      change = (url, name, value) => {
        url.#parts = name === 'href' ? ask('parse', value) : ask('set', url.href, name, value);
        url.searchParams.reset(url.#parts['search']!);
      };
    }
    declare readonly href: string;
    declare readonly protocol: string;
    declare readonly username: string;
    declare readonly password: string;
    declare readonly pathname: string;
    declare readonly search: string;
    declare readonly hash: string;
    toString(): string {
      return this.href;
    }
    toJSON(): string {
      return this.href;
    }
  }
  const PARTS = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
  for (const name of [...PARTS, 'origin']) {
    Object.defineProperty(URL.prototype, name, {
      get(this: URL) {
        return part(this, name);
      },
      ...(name === 'origin'
        ? {}
        : {
            set: function (this: URL, value: unknown) {
              change(this, name, String(value));
            },
          }),
      enumerable: true,
      configurable: true,
    });
  }
  return { URL, URLSearchParams };
}

export type GuestUrl = ReturnType<typeof createUrl>;
