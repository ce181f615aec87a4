import type { Json } from '../domain/json.ts';

/** One run of a reactor's code. */
export interface Invocation {
  tenantId: string;
  reactorId: string;
  /** Only an instance of this revision may run it. */
  revision: string;
  /** `req.args`, with expressions already replaced by plaintext. */
  args: Json;
  /** Where and with which short-lived key the instance calls the API for the code's `svc`; absent: `svc` is null. */
  svc?: SvcAccess;
  traceId: string;
  /** Longest time that the code may take once it has begun; the reactor's own timeout applies as well. */
  timeoutMs: number;
}

/** Held by the supervisor alone: neither the key nor the address reaches the process that runs the code. */
export interface SvcAccess {
  baseUrl: string;
  /** Of the API's own headers: `SVC` stands for `SVC-API-KEY`. */
  headerPrefix: string;
  key: string;
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
 * - `timed-out`: over its budget of CPU or wall time.
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
  /** Of a result, and of what one call to `svc` sends or gets, as JSON text in UTF-8. The API bounds arguments. */
  payloadBytes: 1024 * 1024,
  /** Nesting of arrays and objects in a result. */
  resultDepth: 100,
  timers: 100,
  svcCalls: 20,
} as const;

/** Time for the top level of code to run when an instance loads it, in ms. */
export const LOAD_TIMEOUT_MS = 5_000;
