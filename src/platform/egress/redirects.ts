import { EgressError } from './errors.ts';
import { harmlessHeaders, headersWithoutBody } from './headers.ts';
import type { Headers } from './headers.ts';
import type { HopAnswer } from './hop.ts';
import { parseUrl } from './target.ts';

/** What one hop asks for. */
export interface Asked {
  url: URL;
  method: string;
  headers: Headers;
  body: Buffer | undefined;
}

const REDIRECTS = [301, 302, 303, 307, 308];

/** Where an answer leads, undefined where it is the last one. */
export function locationOf({ status, headers }: HopAnswer): string | undefined {
  if (!REDIRECTS.includes(status)) return undefined;
  const locations = headers.filter(([name]) => name === 'location').map(([, value]) => value);
  if (locations.length > 1) throw new EgressError('redirect', 'An answer leads to two places', true);
  return locations[0];
}

/**
 * The next hop (Fetch standard, HTTP-redirect fetch). To another origin go only headers that can hold no secret, and
 * nothing is sent in the clear that was not before. Throws as the rules for a URL do, and 'redirect'.
 */
export function redirected({ url, method, headers, body }: Asked, status: number, location: string): Asked {
  const next = parseUrl(location, url);
  if (url.protocol === 'https:' && next.protocol !== 'https:') {
    throw new EgressError('redirect', 'An answer by https leads to a URL without', true);
  }
  const kept = next.origin === url.origin ? headers : harmlessHeaders(headers);
  const becomesGet = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  return becomesGet
    ? { url: next, method: 'GET', headers: headersWithoutBody(kept), body: undefined }
    : { url: next, method, headers: kept, body };
}
