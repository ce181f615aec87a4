import { egressRules } from '../../domain/egress.ts';
import type { EgressPolicy } from '../../domain/egress.ts';
import { isJsonObject } from '../../domain/json.ts';
import { createEgressClient } from '../../platform/egress/client.ts';
import { EgressError } from '../../platform/egress/errors.ts';
import type { EgressAnswer, EgressOptions, EgressRequest } from '../../platform/egress/types.ts';
import { INVOCATION_LIMITS } from '../types.ts';
import type { CallUnderWay, FetchHandler } from './host-calls.ts';

export interface FetchOptions {
  /** Undefined: every public address, by https. */
  policy: EgressPolicy | undefined;
  /** What is left of the run, in ms, for a request that begins. */
  leftMs: () => number;
  /** Of the process that runs the code, for tests; nothing that a user writes reaches it. */
  network?: FetchNetwork;
}

export type FetchNetwork = Pick<EgressOptions, 'resolve' | 'allowAddress' | 'ca'>;

type Call = Pick<EgressRequest, 'url' | 'method' | 'headers' | 'body' | 'redirect'>;

const REDIRECTS: unknown[] = ['follow', 'error', 'manual'] satisfies EgressRequest['redirect'][];
/** What programs for Node set out of habit, and what is so anyway. */
const OF_ITSELF: Record<string, (value: string, call: Call) => boolean> = {
  connection: (value) => /^(close|keep-alive)$/i.test(value),
  'content-length': (value, { body }) => value === String(body?.length ?? 0),
  host: (value, { url }) => value.toLowerCase() === URL.parse(url)?.host,
};

/**
 * Answers `fetch` of one invocation. The requests leave from here: the process of the code has no network. What it asks
 * for is as hostile as the code; what it is told of a failure names no address that was resolved.
 */
export function createFetchHandler({ policy, leftMs, network }: FetchOptions): FetchHandler {
  const { fetches, fetchesAtOnce, fetchBytes, payloadBytes } = INVOCATION_LIMITS;
  const client = createEgressClient({ rules: egressRules(policy), maxBytes: payloadBytes, ...network });
  const turns = new Turns(fetchesAtOnce);
  let left: number = fetches;
  let leftBytes: number = fetchBytes;

  async function answer(payload: string, { signal, hold }: CallUnderWay): Promise<string> {
    const call = parseCall(payload);
    if (!call) return failure('The arguments of fetch are invalid');
    if ((left -= 1) < 0) return failure(`One call of the reactor makes ${fetches} requests at most`);
    if (leftBytes <= 0) return failure(`One call of the reactor sends and gets ${fetchBytes} bytes at most`);
    const headers = withDefaults(call.headers.filter(([name, value]) => !isOfItself(name, value, call)));
    leftBytes -= call.body?.length ?? 0;
    try {
      const got = await client.request({ ...call, headers, timeoutMs: leftMs(), signal, hold });
      leftBytes -= got.body.length;
      return success(got);
    } catch (error) {
      return failure(error instanceof EgressError ? error.message : 'The request failed');
    }
  }
  return async (payload, call) => {
    if (!(await turns.wait(call.signal))) return failure('The request was broken off');
    try {
      return await answer(payload, call);
    } finally {
      turns.end();
    }
  };
}

/** Lets some go at once, and the others after them in the order they came in. */
class Turns {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** False where it was broken off before its turn came; otherwise to be followed by `end`. */
  async wait(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const begin = (): void => resolve(true);
    const leave = (): void => {
      this.#waiting.delete(begin);
      resolve(false);
    };
    this.#waiting.add(begin);
    signal.addEventListener('abort', leave, { once: true });
    const isMine = await promise;
    signal.removeEventListener('abort', leave);
    return isMine;
  }

  end(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

function parseCall(payload: string): Call | undefined {
  let call: unknown;
  try {
    call = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (!isJsonObject(call)) return undefined;
  const { url, method, headers, body, redirect } = call;
  if (typeof url !== 'string' || typeof method !== 'string' || !REDIRECTS.includes(redirect)) return undefined;
  if (!Array.isArray(headers) || !headers.every(isHeader)) return undefined;
  if (body !== undefined && typeof body !== 'string') return undefined;
  return {
    ...{ url, method, headers, redirect: redirect as Call['redirect'] },
    ...(body === undefined ? {} : { body: Buffer.from(body, 'base64') }),
  };
}

function isHeader(header: unknown): header is [string, string] {
  return Array.isArray(header) && header.length === 2 && header.every((text) => typeof text === 'string');
}

function isOfItself(name: string, value: string, call: Call): boolean {
  const key = name.toLowerCase();
  return Object.hasOwn(OF_ITSELF, key) && OF_ITSELF[key]!(value, call);
}

/** As `fetch` of Node adds them: some servers refuse requests without. */
function withDefaults(headers: Call['headers']): Call['headers'] {
  const named = new Set(headers.map(([name]) => name.toLowerCase()));
  const defaults: [string, string][] = [
    ['accept', '*/*'],
    ['user-agent', 'tokenkeep'],
  ];
  return [...headers, ...defaults.filter(([name]) => !named.has(name))];
}

function success({ body, ...answer }: EgressAnswer): string {
  return JSON.stringify({ ok: true, value: { ...answer, body: body.toString('base64') } });
}

function failure(message: string): string {
  return JSON.stringify({ ok: false, message });
}
