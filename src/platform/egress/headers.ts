import { validateHeaderName, validateHeaderValue } from 'node:http';
import { EgressError } from './errors.ts';

export type Headers = readonly (readonly [name: string, value: string])[];

/** What belongs to the connection, or is ours to say: with it, a request could become two, or go to another host. */
const REFUSED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that cannot carry a secret: what is left of a request when an answer leads it to another origin. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-language', 'content-type', 'user-agent']);

/** Methods that make a tunnel, or give back what they were sent. */
const REFUSED_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);
const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 16 * 1024;

/** Throws 'method' or 'header'. */
export function checkMethodAndHeaders(method: string, headers: Headers): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}$/.test(method) || REFUSED_METHODS.has(method.toUpperCase())) {
    throw new EgressError('method', 'The method of the request is not allowed');
  }
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (headers.length > MAX_HEADERS || bytes > MAX_HEADER_BYTES) {
    throw new EgressError('header', `Headers may be ${MAX_HEADERS}, of ${MAX_HEADER_BYTES} bytes together, at most`);
  }
  for (const [name, value] of headers) checkHeader(name, value);
}

function checkHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new EgressError('header', 'A header of the request has an invalid name or value');
  }
  if (REFUSED.has(name.toLowerCase())) {
    throw new EgressError('header', `The header ${name.toLowerCase()} cannot be set`);
  }
}

/** What goes along to another origin. */
export function harmlessHeaders(headers: Headers): Headers {
  return headers.filter(([name]) => HARMLESS.has(name.toLowerCase()));
}

/** What goes along when a body no longer does. */
export function headersWithoutBody(headers: Headers): Headers {
  return headers.filter(([name]) => !name.toLowerCase().startsWith('content-'));
}
