import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';

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
const MAX_RANDOM_BYTES = 65_536;

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
  hash: (algorithm, data) => createHash(algorithm).update(data, 'base64').digest('base64'),
  hmac: (algorithm, key, data) =>
    createHmac(algorithm, Buffer.from(key, 'base64')).update(data, 'base64').digest('base64'),
  random: (size) => (Number(size) <= MAX_RANDOM_BYTES ? randomBytes(Number(size)).toString('base64') : ''),
  uuid: () => randomUUID(),
  url: (action, first, second, third) => url(action, first, second, third),
};

/** Undefined for an operation that is not a computation. Never throws: an error would show our stack to the guest. */
export function compute(operation: string, texts: string[]): string | undefined {
  if (!Object.hasOwn(COMPUTATIONS, operation)) return undefined;
  try {
    return COMPUTATIONS[operation]!(...texts);
  } catch {
    return '';
  }
}
