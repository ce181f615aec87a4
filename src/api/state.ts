import type { Context } from 'koa';
import type { Caller } from '../domain/caller.ts';
import type { CounterState } from '../domain/rate-limits.ts';

/** What the middleware learns of a request, for those after it. */
export interface RequestState {
  /** The prefix under which this request's headers came, and its answer's headers go: `SVC`. */
  headerPrefix: string;
  traceId: string;
  /** Of the trace that the request is part of; absent where it is not traced. */
  spanTraceId?: string | undefined;
  /** The path of the matched route (`/tokens/{id}`), never the path as sent: ids are no metric's business. */
  routePath?: string;
  caller?: Caller;
  /**
   * As it is counted (see client-address.ts). Absent for calls of reactors, which are not counted on it, and probes.
   */
  clientAddress?: string;
  /** What the RateLimit headers tell of; absent where nothing limits the request. */
  rateLimit?: CounterState;
}

export type ApiContext = Context & { state: RequestState };
