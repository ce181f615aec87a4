import type { TestVault } from '../vault.ts';
import type { RequestOfEndpoint } from './requests.ts';

/** An answer, byte for byte; without the headers that differ from one answer to the next. */
export interface PlainAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

const TRACE = 'the-same-for-all';

function isOfTheMoment(name: string): boolean {
  return name === 'date' || name.startsWith('ratelimit');
}

/**
 * Sends the request of `METHOD /path`, where `any` is a method too. All bear the same trace id, so that answers that
 * are alike are equal.
 */
export async function send(
  vault: TestVault,
  endpoint: string,
  { path, body }: RequestOfEndpoint,
  key: string | undefined,
): Promise<PlainAnswer> {
  const [named = ''] = endpoint.split(' ');
  const method = named === 'any' ? 'POST' : named;
  const response = await fetch(vault.baseUrl + path, {
    method,
    headers: {
      'svc-trace-id': TRACE,
      ...(key === undefined ? {} : { 'svc-api-key': key }),
      ...(body === undefined
        ? {}
        : { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !isOfTheMoment(name)));
  return { status: response.status, headers, text: await response.text() };
}
