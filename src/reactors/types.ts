import type { ReactorScaling } from '../domain/declarations.ts';
import type { Json } from '../domain/json.ts';

/** One run of a reactor's code. */
export interface Invocation {
  tenantId: string;
  reactorId: string;
  /** What its reactor is at this time. An instance of another one runs it only while the reactor changes: see `Rollout`. */
  revision: string;
  /** When the reactor was changed last, in ms since the epoch. Absent: this revision alone may run it. */
  revisedAt?: number;
  /** `req.args`, with expressions already replaced by plaintext. */
  args: Json;
  /** Of `args` as JSON text: counted while it waits. Absent: none. */
  argsBytes?: number;
  /** Where and with which short-lived key the instance calls the API for the code's `svc`; absent: `svc` is null. */
  svc?: SvcAccess;
  traceId: string;
  /** Headers by which the instance goes on with the request's trace; absent where it is not traced. */
  trace?: Readonly<Record<string, string>>;
  /** Longest time that the code may take once it has begun; that of its reactor applies as well, see `asynchronous`. */
  timeoutMs: number;
  /**
   * When somebody who waits is to be answered, as `performance.now` tells time: the wait for an instance and the code
   * are over by then. Absent: `timeoutMs` alone bounds the code.
   */
  answerBy?: number;
  /** How many instances there may be, and how much each runs at a time: bounds what waits. Absent: the default. */
  scaling?: Pick<ReactorScaling, 'concurrency' | 'maxReplicas'>;
  /** Nobody waits for it: the reactor's own timeout does not apply. */
  asynchronous?: boolean;
  /** Awaited each time before code can begin; false, or a rejection: it must not, and the outcome is 'unavailable'. */
  begin?: () => Promise<boolean>;
  /** Breaks the wait for an answer off; code that has begun may go on. */
  signal?: AbortSignal;
}

/** A revision of a reactor, and from when it is. */
export type Revised = Pick<Invocation, 'revision' | 'revisedAt'>;

/** Held by the supervisor alone: neither the key nor the address reaches the process that runs the code. */
export interface SvcAccess {
  baseUrl: string;
  /** The one name of the certificate that the API shows there; absent on one machine. */
  serverName?: string;
  /** Of the API's own headers: `SVC` stands for `SVC-API-KEY`. */
  headerPrefix: string;
  key: string;
  /** Headers by which the API's part of the trace goes on. */
  trace?: Readonly<Record<string, string>>;
}

/** How an invocation ended. `errors.ts` gives every kind that is a failure its status. */
export type InvocationOutcome =
  { kind: 'returned'; raw?: Json; tokenize?: Json } | Thrown | CustomResponse | { kind: FailureKind };

/** The code threw: an error class of `@tokenkeep/errors`, or anything else (500). */
export interface Thrown {
  kind: 'threw';
  status: number;
  title: string;
  detail?: string;
  errors?: Record<string, string[]>;
}

/** The code threw a CustomHttpResponseError: the caller gets exactly this. */
export interface CustomResponse {
  kind: 'custom-response';
  status: number;
  headers: Record<string, string>;
  body: Json;
}

/**
 * - `timed-out`: over its budget of CPU or wall time, or not done by `answerBy`.
 * - `crashed`: its process died or broke the protocol, possibly through another invocation beside it.
 * - `out-of-memory`: it needed more memory than the instance has.
 * - `invalid-result`: it returned something that is not `{raw?, tokenize?}` in JSON form within the limits.
 * - `result-too-large`: what it returned, or the error that it threw, is over `payloadBytes`.
 * - `unavailable`: no instance was free in time, or too many invocations were waiting. No code has run.
 */
export type FailureKind =
  'timed-out' | 'crashed' | 'out-of-memory' | 'invalid-result' | 'result-too-large' | 'unavailable';

/** Why code is refused. `syntax`: it does not parse; `top-level-error`: it throws while it is loaded. */
export type CodeFault = 'syntax' | 'not-a-function' | 'top-level-error' | 'timed-out';

/** The verdict on a reactor's code. `message` names kind and line and holds nothing of the code but a module's name. */
export type CheckOutcome =
  { ok: true } | { ok: false; kind: CodeFault; message: string; line?: number } | { ok: false; kind: 'unavailable' };

/** Bounds of one invocation; a breach of any ends the process that runs it. */
export const INVOCATION_LIMITS = {
  /** Longest single stretch of guest code (a timer's callback, a continuation) in ms. */
  sliceMs: 5_000,
  /** CPU time of all stretches together, in ms. */
  cpuMs: 10_000,
  /**
   * Of a result, and of what one call to `svc` sends or gets, as JSON text in UTF-8; also of a body that `fetch` sends.
   * The API bounds arguments.
   */
  payloadBytes: 1024 * 1024,
  /** Nesting of arrays and objects in a result. */
  resultDepth: 100,
  timers: 100,
  /** Calls of `svc` and `fetch` that may be outstanding at a time. */
  calls: 20,
  /** Of what the outstanding calls of all invocations of an instance send, together; the answers to them likewise. */
  callBytes: 16 * 1024 * 1024,
  /** Requests that `fetch` sends in all; what redirects add is not counted. */
  fetches: 100,
  /** Of those, under way at a time; the others wait. */
  fetchesAtOnce: 6,
  /** Of the bodies that `fetch` sends and gets, together; no request begins once it is used up. */
  fetchBytes: 16 * 1024 * 1024,
} as const;

/** What the code of one invocation may print. What is over is counted, and said in one last line. */
export const LOG_LIMITS = { lines: 100, lineBytes: 4096, totalBytes: 65_536 } as const;

/** Time for the top level of code to run when an instance loads it, in ms. */
export const LOAD_TIMEOUT_MS = 5_000;
