import type { GuestQuerystring } from './querystring.ts';
import type { GuestUrl } from './url.ts';

/** Node's url module: beside the classes of the standard, `parse`, `format` and `resolve` of old. */
export function createLegacyUrl({ URL, URLSearchParams }: GuestUrl, querystring: GuestQuerystring) {
  /** Protocols with a host and a path, whatever stands after them. */
  const SLASHED = /^(https?|ftp|file|wss?|gopher):$/;

  class Url {
    protocol: string | null = null;
    slashes: boolean | null = null;
    auth: string | null = null;
    host: string | null = null;
    port: string | null = null;
    hostname: string | null = null;
    hash: string | null = null;
    search: string | null = null;
    query: unknown = null;
    pathname: string | null = null;
    path: string | null = null;
    href = '';
    format(): string {
      return format(this);
    }
  }

  const escapePath = (text: string): string =>
    text.replace(/[\s"'<>\\^`{|}]/g, (mark) => encodeURIComponent(mark).replace("'", '%27'));

  function parse(text: unknown, parseQuery = false, slashesDenoteHost = false): Url {
    if (typeof text !== 'string') throw new TypeError('The "url" argument must be of type string.');
    const url = new Url();
    let rest = text.trim();
    const protocol = /^([a-z0-9.+-]+:)/i.exec(rest)?.[1];
    if (protocol !== undefined) {
      url.protocol = protocol.toLowerCase();
      rest = rest.slice(protocol.length);
    }
    const isSlashed = SLASHED.test(url.protocol ?? '');
    if (rest.startsWith('//') && (protocol !== undefined || slashesDenoteHost)) {
      url.slashes = true;
      const authority = /^\/\/([^/?#]*)/.exec(rest)![1]!;
      rest = rest.slice(2 + authority.length);
      const at = authority.lastIndexOf('@');
      if (at >= 0) url.auth = querystring.unescape(authority.slice(0, at));
      const [, hostname, port] = /^(.*?)(?::(\d*))?$/.exec(authority.slice(at + 1))!;
      url.port = port === undefined || port === '' ? null : port;
      const name = hostname!.toLowerCase();
      url.host = url.port === null ? name : `${name}:${url.port}`;
      url.hostname = name.replace(/^\[(.*)\]$/, '$1');
    }
    const hash = rest.indexOf('#');
    if (hash >= 0) {
      url.hash = escapePath(rest.slice(hash));
      rest = rest.slice(0, hash);
    }
    const search = rest.indexOf('?');
    if (search >= 0) {
      url.search = escapePath(rest.slice(search));
      rest = rest.slice(0, search);
    }
    url.query = url.search === null ? null : url.search.slice(1);
    if (parseQuery) {
      url.search ??= '';
      url.query = querystring.parse(url.search.slice(1));
    }
    if (rest !== '') url.pathname = escapePath(rest);
    else if (isSlashed && url.hostname) url.pathname = '/';
    if (url.pathname !== null || url.search) url.path = (url.pathname ?? '') + (url.search ?? '');
    url.href = format(url);
    return url;
  }

  interface Formatted {
    protocol?: string | null;
    slashes?: boolean | null;
    auth?: string | null;
    host?: string | null;
    port?: string | number | null;
    hostname?: string | null;
    hash?: string | null;
    search?: string | null;
    query?: unknown;
    pathname?: string | null;
  }

  function format(value: string | Formatted): string {
    if (typeof value === 'string') return parse(value).href;
    if (value instanceof URL) return value.href;
    const { auth, hostname, port, query } = value;
    let protocol = value.protocol ?? '';
    if (protocol !== '' && !protocol.endsWith(':')) protocol += ':';
    const login = auth ? `${encodeURIComponent(auth).replace(/%3A/i, ':')}@` : '';
    const name = hostname?.includes(':') ? `[${hostname}]` : hostname;
    const host = value.host ? login + value.host : name ? login + name + (port ? `:${port}` : '') : '';
    let pathname = value.pathname ?? '';
    const asked = typeof query === 'object' && query !== null ? querystring.stringify(query) : '';
    let search = value.search || (asked === '' ? '' : `?${asked}`);
    let hash = value.hash ?? '';
    const hasSlashes = value.slashes || ((protocol === '' || SLASHED.test(protocol)) && host !== '');
    if (hasSlashes && pathname !== '' && !pathname.startsWith('/')) pathname = `/${pathname}`;
    if (hash !== '' && !hash.startsWith('#')) hash = `#${hash}`;
    if (search !== '' && !search.startsWith('?')) search = `?${search}`;
    pathname = pathname.replace(/[?#]/g, encodeURIComponent);
    return protocol + (hasSlashes ? `//${host}` : host) + pathname + search.replace('#', '%23') + hash;
  }

  function resolve(from: string, to: string): string {
    const base = 'resolve://';
    const resolved = new URL(to, new URL(from, base).href);
    if (resolved.protocol !== 'resolve:') return resolved.href;
    return resolved.pathname + resolved.search + resolved.hash;
  }

  return { URL, URLSearchParams, Url, parse, format, resolve };
}
