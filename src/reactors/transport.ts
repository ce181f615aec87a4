import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { ReactorInstance } from '../domain/declarations.ts';
import { ExchangeError, exchange } from '../platform/http-exchange.ts';
import type { ExchangeAnswer } from '../platform/http-exchange.ts';
import { silentLogger } from '../platform/logger.ts';
import type { Logger } from '../platform/logger.ts';
import type { ServerCertificate } from '../platform/server-certificate.ts';
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

export interface TransportOptions {
  /** Of the API, and the authority of the instances: without it, those with a `serverName` cannot be called. */
  identity?: ServerCertificate | undefined;
  logger?: Logger;
  /** Longest wait for an instance to take a request, in ms; the next one is tried then. Default: 5,000. */
  takeMs?: number;
}

/** One whose machine is gone must not hold up a call for its whole time; one that is there says so at once. */
const TAKE_MS = 5_000;
/** An instance that keeps its own limits answers within this time after the code's. */
const ANSWER_GRACE_MS = 5_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Shorter than an instance keeps idle connections, so that none is closed as a request goes out on it. */
const IDLE_CONNECTION_MS = 30_000;

/** Between two complaints about the same: refused requests are tried again many times a second. */
const COMPLAIN_EVERY_MS = 60_000;
const REFUSED_BY_API = 'What answers does not prove to be the instance';
const REFUSED_BY_INSTANCE = 'An instance does not take the certificate of the API';

/** Calls instances over plain HTTP with their credential, or over mutual TLS where they have a `serverName`. */
export function createTransport(options: TransportOptions = {}): Transport {
  const { identity, logger = silentLogger, takeMs = TAKE_MS } = options;
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  // Each connection has both sides show their certificates: none is resumed from one that did so long ago.
  const secureAgent = new SecureAgent({ keepAlive: true, timeout: IDLE_CONNECTION_MS, maxCachedSessions: 0 });
  const complain = createComplaints(logger);

  async function post(
    instance: ReactorInstance,
    path: string,
    body: unknown,
    { timeoutMs, signal, trace }: { timeoutMs: number } & Pick<Invocation, 'signal' | 'trace'>,
  ): Promise<ExchangeAnswer> {
    const { address, credential, serverName } = instance;
    const headers = { ...trace, 'content-type': 'application/json' };
    const request = {
      ...{ method: 'POST', url: address + path, body: JSON.stringify(body), timeoutMs, maxBytes: MAX_ANSWER_BYTES },
      // 0.04 ms. Without it, calls of an instance that just goes, or on a kept connection that has died, would get a 502.
      ...{ confirmed: true, takeMs, ...(signal ? { signal } : {}) },
    };
    if (serverName === undefined) {
      return exchange({ ...request, headers: { ...headers, authorization: `Bearer ${credential}` }, agent });
    }
    if (identity === undefined || !address.startsWith('https:')) {
      complain(serverName, 'no-certificate', 'Instances cannot be called without --reactor-tls-dir');
      throw new ExchangeError(false, false);
    }
    // Kept connections are told apart by certificate and name: none is used for another instance at that address.
    const connection = { ...identity.current, servername: serverName, minVersion: 'TLSv1.3' } as const;
    return exchange({ ...request, headers, agent: secureAgent, connection }).catch((error: unknown) => {
      const code = tlsFaultOf(error);
      // What the other side refuses, it says in an alert.
      if (code !== undefined) complain(serverName, code, code.includes('ALERT') ? REFUSED_BY_INSTANCE : REFUSED_BY_API);
      throw error;
    });
  }

  return {
    async invoke(instance, invocation, onConcurrency) {
      const { revision, args, svc, traceId, trace, answerBy = Infinity, asynchronous = false, signal } = invocation;
      const leftMs = Math.max(Math.floor(answerBy - performance.now()), 1);
      const timeoutMs = Math.min(invocation.timeoutMs, leftMs);
      const request: InvokeRequest = {
        ...{ revision, args, traceId, timeoutMs, asynchronous },
        ...(svc ? { svc: trace ? { ...svc, trace } : svc } : {}),
      };
      const limitMs = Math.min(timeoutMs + ANSWER_GRACE_MS, leftMs);
      try {
        const { status, headers, body } = await post(instance, '/invoke', request, {
          timeoutMs: limitMs,
          ...(signal ? { signal } : {}),
          ...(trace ? { trace } : {}),
        });
        const concurrency = Number(headers[CONCURRENCY_HEADER]);
        if (concurrency >= 1) onConcurrency(concurrency);
        if (status === 200) return { refused: false, outcome: JSON.parse(body) as InvocationOutcome };
        // Of the other answers, only a failure of the supervisor itself may come after code has begun.
        if (headers[BUSY_HEADER] !== undefined || status < 500) return { refused: true };
        return { refused: false, outcome: { kind: 'crashed' } };
      } catch (error) {
        if (error instanceof ExchangeError && !error.sent && !signal?.aborted) return { refused: true };
        const timedOut = error instanceof ExchangeError && error.timedOut;
        return { refused: false, outcome: { kind: timedOut ? 'timed-out' : 'crashed' } };
      }
    },
    async check(instance, code, timeoutMs) {
      try {
        const { status, body } = await post(instance, '/check', { code } satisfies CheckRequest, { timeoutMs });
        return status === 200 ? { refused: false, outcome: JSON.parse(body) as CheckOutcome } : { refused: true };
      } catch {
        return { refused: true };
      }
    },
    close() {
      agent.destroy();
      secureAgent.destroy();
    },
  };
}

/** What was wrong with a certificate, as Node names it; undefined for every other failure. */
function tlsFaultOf(error: unknown): string | undefined {
  if (!(error instanceof ExchangeError) || !(error.cause instanceof Error)) return undefined;
  const { code = '' } = error.cause as NodeJS.ErrnoException;
  const isOfTls = /^(?:ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|INVALID_(?:CA|PURPOSE))/.test(code);
  return isOfTls ? code : undefined;
}

function createComplaints(logger: Logger): (serverName: string, code: string, message: string) => void {
  const told = new Map<string, number>();
  return (serverName, code, message) => {
    const now = performance.now();
    for (const [key, at] of told) if (now - at >= COMPLAIN_EVERY_MS) told.delete(key);
    const key = `${serverName} ${code}`;
    if (told.has(key)) return;
    told.set(key, now);
    logger.warn({ serverName, code }, message);
  };
}
