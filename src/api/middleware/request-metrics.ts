import type { Middleware } from 'koa';
import type { Metrics } from '../../platform/metrics.ts';
import { PROBES } from '../probes.ts';
import type { ApiContext } from '../state.ts';

/** Counts and times requests per route and status. Requests that match no route share one label. Probes are left out. */
export function requestMetrics(metrics: Metrics): Middleware {
  const duration = metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request’s headers to the end of its handling, by route and status.',
    labels: ['method', 'route', 'status'],
  });
  const inFlight = metrics.gauge({ name: 'http_requests_in_flight', help: 'Requests being handled.' });
  return async (context, next) => {
    const ctx = context as ApiContext;
    if (PROBES.has(ctx.path)) {
      await next();
      return;
    }
    const startedAt = performance.now();
    inFlight.inc();
    try {
      await next();
    } finally {
      inFlight.dec();
      const route = ctx.state.routePath ?? 'none';
      const method = route === 'none' ? 'any' : ctx.method;
      duration.observe({ method, route, status: String(ctx.status) }, (performance.now() - startedAt) / 1000);
    }
  };
}
