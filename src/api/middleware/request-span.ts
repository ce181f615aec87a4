import type { Middleware } from 'koa';
import type { Tracing } from '../../platform/tracing.ts';
import { PROBES } from '../probes.ts';
import type { ApiContext } from '../state.ts';

/** Traces each request under its route and status: never its path, query, headers or body. Probes are left out. */
export function requestSpans(tracing: Tracing): Middleware {
  return async (context, next) => {
    const ctx = context as ApiContext;
    if (PROBES.has(ctx.path)) {
      await next();
      return;
    }
    await tracing.request(ctx.headers, 'unmatched', async (span) => {
      ctx.state.spanTraceId = span.traceId;
      await next();
      const route = ctx.state.routePath;
      // A method that no route has could be any text.
      if (route !== undefined) {
        span.rename(`${ctx.method} ${route}`);
        span.set({ 'http.request.method': ctx.method, 'http.route': route });
      }
      span.set({ 'http.response.status_code': ctx.status });
      if (ctx.status >= 500) span.fail();
    });
  };
}
