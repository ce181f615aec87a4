import { computeCrypto } from './crypto-calls.ts';

const URL_PARTS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;
const SETTABLE: ReadonlySet<string> = new Set(URL_PARTS.filter((part) => part !== 'origin' && part !== 'href'));

function partsOf(url: URL): string {
  return JSON.stringify(Object.fromEntries(URL_PARTS.map((part) => [part, url[part]])));
}

function url(action: string, first: string, second?: string, third?: string): string {
  if (action === 'parse') return partsOf(new URL(first, second));
  const changed = new URL(first);
  if (second === undefined || !SETTABLE.has(second)) return '';
  (changed as unknown as Record<string, string>)[second] = third ?? '';
  return partsOf(changed);
}

/** What the language lacks and a host has: strings in, a string out, the empty string for any refusal. */
const COMPUTATIONS: Record<string, (...texts: string[]) => string> = {
  url: (action, first, second, third) => url(action, first, second, third),
  'base64-text': (base64) => Buffer.from(base64, 'base64').toString('utf8'),
  'text-base64': (text) => Buffer.from(text).toString('base64'),
};

/** Undefined for an operation that is not a computation. Never throws: an error would show our stack to the guest. */
export function compute(operation: string, texts: string[]): string | undefined {
  if (!Object.hasOwn(COMPUTATIONS, operation)) return computeCrypto(operation, texts);
  try {
    return COMPUTATIONS[operation]!(...texts);
  } catch {
    return '';
  }
}
