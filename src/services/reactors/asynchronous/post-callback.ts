import type { EgressClient } from '../../../platform/egress/types.ts';
import type { PostCallback } from './types.ts';

/** Of one attempt, names, connection and answer together, in ms. */
const TIMEOUT_MS = 20_000;

/** Sends results through a client that checks and pins each address. Follows no redirect. */
export function createPostCallback(client: EgressClient, timeoutMs = TIMEOUT_MS): PostCallback {
  return async ({ url, headers, body, signal }) => {
    const { status, headers: answered } = await client.request({
      ...{ method: 'POST', url, headers: Object.entries(headers), body: Buffer.from(body) },
      ...{ timeoutMs, redirect: 'manual', signal },
    });
    return { status, retryAfter: answered.find(([name]) => name === 'retry-after')?.[1] };
  };
}
