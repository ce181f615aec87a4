import type { KubeConfig } from '@kubernetes/client-node';
import { AnswerTooLarge, exchange, ExchangeError } from '../http-exchange.ts';
import type { ExchangeAnswer } from '../http-exchange.ts';
import { createConnections } from './connection.ts';
import type { SignedConnection } from './connection.ts';
import { KubernetesError, noAnswer } from './errors.ts';
import type { NoAnswer } from './errors.ts';
import { openStream, readBeginning, StreamTimedOut } from './event-stream.ts';
import type { OpenedStream } from './event-stream.ts';
import { readRefusal } from './status.ts';

/** One finished request, for the metric `rest_client_requests_total`. */
export interface RequestObservation {
  method: string;
  /** HTTP status, or `<error>` where no answer came: as client-go says it. */
  code: string;
  host: string;
}

export interface ApiRequest {
  method: string;
  path: string;
  query?: URLSearchParams;
  accept?: string;
  body?: object;
  /** Media type of the body. */
  type?: string;
}

/** Requests to one API server, signed and observed. Both reject with a KubernetesError. */
export interface Requests {
  /** The parsed answer of a request that succeeded. */
  whole<T>(request: ApiRequest, signal?: AbortSignal): Promise<T>;
  /** The answer of a request that succeeded, while it comes. */
  stream(request: ApiRequest, signal: AbortSignal): Promise<OpenedStream>;
  close(): void;
}

export interface RequestsOptions {
  kubeConfig: KubeConfig;
  timeoutMs?: number;
  onRequest?: (observation: RequestObservation) => void;
}

const TIMEOUT_MS = 30_000;
// Of a whole answer: a list without pages may hold tens of thousands of objects.
const MAX_BYTES = 256 * 1024 * 1024;

export function createRequests(options: RequestsOptions): Requests {
  const { kubeConfig, timeoutMs = TIMEOUT_MS, onRequest = () => undefined } = options;
  const connections = createConnections(kubeConfig);
  const { host } = new URL(connections.server);
  const closing = new AbortController();

  async function sign({ method, path }: ApiRequest): Promise<SignedConnection> {
    if (closing.signal.aborted) throw noAnswer(method, path, 'BrokenOff');
    try {
      return await connections.sign();
    } catch (error) {
      // What a credential plugin printed, which may be a credential, stands in any other error.
      throw noAnswer(method, path, 'NotSignedIn', isSystemError(error) ? error : undefined);
    }
  }

  /** Observes an attempt, and says in our words why it came to nothing. */
  async function attempt<Answer extends { status: number }>(
    { method, path }: ApiRequest,
    signal: AbortSignal,
    answer: Promise<Answer>,
  ): Promise<Answer> {
    try {
      const { status } = await answer;
      onRequest({ method, code: String(status), host });
    } catch (error) {
      onRequest({ method, code: '<error>', host });
      throw noAnswer(method, path, signal.aborted ? 'BrokenOff' : whyNone(error), error);
    }
    return answer;
  }

  const urlOf = ({ path, query }: ApiRequest): string =>
    `${connections.server}${path}${query === undefined || query.size === 0 ? '' : `?${query.toString()}`}`;

  return {
    async whole<T>(request: ApiRequest, signal?: AbortSignal) {
      const { headers, agent, connection } = await sign(request);
      const until = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      const answer = await attempt(
        request,
        until,
        exchange({
          method: request.method,
          url: urlOf(request),
          headers: { ...headers, ...headersOf(request) },
          ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
          timeoutMs,
          maxBytes: MAX_BYTES,
          agent,
          connection,
          signal: until,
        }),
      );
      return parse<T>(request, answer);
    },
    async stream(request, signal) {
      const signed = await sign(request);
      const until = AbortSignal.any([closing.signal, signal]);
      const headers = { ...signed.headers, ...headersOf(request) };
      const opened = await attempt(
        request,
        until,
        openStream(urlOf(request), { ...signed, headers }, timeoutMs, until),
      );
      if (isSuccess(opened.status)) return opened;
      const body = await readBeginning(opened.body, timeoutMs).catch(() => '');
      throw refused(request, { ...opened, body });
    },
    close() {
      closing.abort();
      connections.close();
    },
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function headersOf({ accept = 'application/json', body, type }: ApiRequest): Record<string, string> {
  const headers = { accept, 'user-agent': 'tokenkeep' };
  return body === undefined || type === undefined ? headers : { ...headers, 'content-type': type };
}

function parse<T>(request: ApiRequest, answer: ExchangeAnswer): T {
  if (!isSuccess(answer.status)) throw refused(request, answer);
  try {
    return JSON.parse(answer.body) as T;
  } catch {
    // Without its cause: the parser quotes what it could not read.
    throw noAnswer(request.method, request.path, 'Malformed');
  }
}

function refused({ method, path }: ApiRequest, { status, headers, body }: ExchangeAnswer): KubernetesError {
  return new KubernetesError({ method, path, ...readRefusal(status, headers, body) });
}

/** Of the operating system, such as ENOENT: it names a file or a program. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

function whyNone(error: unknown): NoAnswer {
  if (error instanceof AnswerTooLarge) return 'TooLarge';
  if (error instanceof StreamTimedOut) return 'TimedOut';
  return error instanceof ExchangeError && error.timedOut ? 'TimedOut' : 'Disconnected';
}
