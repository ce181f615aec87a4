import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import type { Requests } from '../../platform/kubernetes/requests.ts';

const TRIES = 10;
const LONGEST_WAIT_MS = 10_000;

/** Asks again where the API server says when to: it is busy, or makes itself ready for a kind that is new to it. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = error instanceof KubernetesError && error.status === 429 ? error.retryAfterMs : undefined;
      if (waitMs === undefined || tries >= TRIES) throw error;
      await delay(Math.min(waitMs, LONGEST_WAIT_MS));
    }
  }
}

/** What is asked of it, it asks patiently. */
export function patientClient(client: KubernetesClient): KubernetesClient {
  return {
    ...client,
    read: (at) => patiently(() => client.read(at)),
    listPage: (at, query, signal) => patiently(() => client.listPage(at, query, signal)),
  };
}

export function patientRequests(requests: Requests): Requests {
  return { ...requests, whole: (request, signal) => patiently(() => requests.whole(request, signal)) };
}
