import { Agent } from 'node:http';
import type { ReactorInstance } from '../domain/declarations.ts';
import { ExchangeError, exchange } from '../platform/http-exchange.ts';
import { BUSY_HEADER, CONCURRENCY_HEADER } from './protocol.ts';
import type { CheckRequest, InvokeRequest } from './protocol.ts';
import type { CheckOutcome, Invocation, InvocationOutcome } from './types.ts';

/** One try at one instance. Only a refused one may be repeated elsewhere: no code has run. */
export type Attempt<Outcome> = { refused: false; outcome: Outcome } | { refused: true };

export interface Transport {
  invoke(
    instance: ReactorInstance,
    invocation: Invocation,
    onConcurrency: (concurrency: number) => void,
  ): Promise<Attempt<InvocationOutcome>>;
  check(instance: ReactorInstance, code: string, timeoutMs: number): Promise<Attempt<CheckOutcome>>;
  close(): void;
}

/** An instance that keeps its own limits answers within this time after the code's. */
const ANSWER_GRACE_MS = 5_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Shorter than an instance keeps idle connections, so that none is closed as a request goes out on it. */
const IDLE_CONNECTION_MS = 30_000;

export function createTransport(): Transport {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });

  function post(instance: ReactorInstance, path: string, body: unknown, timeoutMs: number) {
    return exchange({
      method: 'POST',
      url: instance.address + path,
      headers: { authorization: `Bearer ${instance.credential}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      agent,
    });
  }

  return {
    async invoke(instance, { revision, args, svc, traceId, timeoutMs }, onConcurrency) {
      const request: InvokeRequest = { revision, args, traceId, timeoutMs, ...(svc ? { svc } : {}) };
      try {
        const { status, headers, body } = await post(instance, '/invoke', request, timeoutMs + ANSWER_GRACE_MS);
        const concurrency = Number(headers[CONCURRENCY_HEADER]);
        if (concurrency >= 1) onConcurrency(concurrency);
        if (status === 200) return { refused: false, outcome: JSON.parse(body) as InvocationOutcome };
        // Of the other answers, only a failure of the supervisor itself may come after code has begun.
        if (headers[BUSY_HEADER] !== undefined || status < 500) return { refused: true };
        return { refused: false, outcome: { kind: 'crashed' } };
      } catch (error) {
        if (error instanceof ExchangeError && !error.sent) return { refused: true };
        const timedOut = error instanceof ExchangeError && error.timedOut;
        return { refused: false, outcome: { kind: timedOut ? 'timed-out' : 'crashed' } };
      }
    },
    async check(instance, code, timeoutMs) {
      try {
        const { status, body } = await post(instance, '/check', { code } satisfies CheckRequest, timeoutMs);
        return status === 200 ? { refused: false, outcome: JSON.parse(body) as CheckOutcome } : { refused: true };
      } catch {
        return { refused: true };
      }
    },
    close: () => agent.destroy(),
  };
}
