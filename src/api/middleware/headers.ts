import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { ApiContext } from '../state.ts';

const TRACE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads a header under any of the accepted prefixes; the first prefix that is present wins. Empty: not sent.
 */
export function readPrefixedHeader(
  ctx: ApiContext,
  prefixes: readonly string[],
  name: string,
): { prefix: string; value: string } | undefined {
  for (const prefix of prefixes) {
    const value = ctx.get(`${prefix}-${name}`);
    if (value !== '') return { prefix, value };
  }
  return undefined;
}

/**
 * Settles under which prefix this request's own headers travel, and gives it its trace id: the caller's, or
 * where none or a malformed one was sent, that of the trace that it is part of, or a new one.
 */
export function prefixedHeaders(prefixes: readonly string[]): Middleware {
  return async (ctx, next) => {
    const api = ctx as ApiContext;
    const trace = readPrefixedHeader(api, prefixes, 'TRACE-ID');
    const key = readPrefixedHeader(api, prefixes, 'API-KEY');
    api.state.headerPrefix = key?.prefix ?? trace?.prefix ?? prefixes[0]!;
    api.state.traceId = trace && TRACE_ID.test(trace.value) ? trace.value : (api.state.spanTraceId ?? randomUUID());
    ctx.set(`${api.state.headerPrefix}-TRACE-ID`, api.state.traceId);
    await next();
  };
}
