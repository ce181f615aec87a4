import { EgressError } from './errors.ts';
import type { EgressTarget } from './types.ts';

const MAX_URL_LENGTH = 16 * 1024;
const MAX_NAME_LENGTH = 253;
const PORTS = { 'http:': 80, 'https:': 443 } as const;

/** A URL that may be called, as far as itself can tell. Throws 'url', 'scheme' or 'userinfo'. */
export function parseUrl(text: string, base?: URL): URL {
  // The parser drops control characters and takes backslashes for slashes: two readers would see two hosts.
  if (text.length > MAX_URL_LENGTH || /[\u0000-\u001f\u007f]|^[^?#]*\\/.test(text)) throw notAUrl();
  const url = URL.parse(text, base?.href);
  if (url === null) throw notAUrl();
  if (!Object.hasOwn(PORTS, url.protocol)) throw new EgressError('scheme', 'Only http and https URLs can be called');
  if (url.username !== '' || url.password !== '') {
    throw new EgressError('userinfo', 'A URL must not hold a user name or password');
  }
  return url;
}

/** Where a URL leads. Throws 'url' for a host that cannot be one. */
export function targetOf(url: URL): EgressTarget {
  const protocol = url.protocol as EgressTarget['protocol'];
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const host = bare.endsWith('.') ? bare.slice(0, -1) : bare;
  if (host.length > MAX_NAME_LENGTH || host.split('.').includes('')) throw notAUrl();
  return { protocol, host, port: url.port === '' ? PORTS[protocol] : Number(url.port) };
}

/** For messages: what was asked for, never what it resolved to. */
export function nameOf({ host, port }: EgressTarget): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function notAUrl(): EgressError {
  return new EgressError('url', 'The URL is not one that can be called');
}
