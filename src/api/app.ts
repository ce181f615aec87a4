import Koa from 'koa';
import type { Health } from '../platform/health.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Tracing } from '../platform/tracing.ts';
import type { Idempotency } from '../services/idempotency.ts';
import { createCors } from './middleware/cors.ts';
import { prefixedHeaders } from './middleware/headers.ts';
import { problems } from './middleware/problems.ts';
import type { RateLimits } from './middleware/rate-limits.ts';
import { requestMetrics } from './middleware/request-metrics.ts';
import { requestSpans } from './middleware/request-span.ts';
import { refuseUnmatched } from './middleware/unmatched.ts';
import { mountRoutes, type Authenticate } from './mount.ts';
import { createDocument } from './openapi/document.ts';
import type { Route } from './route.ts';
import { mountServiceRoutes } from './service-routes.ts';

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly authenticate: Authenticate;
  readonly idempotency: Idempotency;
  readonly rateLimits: RateLimits;
  readonly headerPrefixes: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly health: Health;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly version: string;
}

/** The public API as a Koa application. */
export function createApp(options: AppOptions): Koa {
  const { routes, authenticate, idempotency, rateLimits, headerPrefixes, health, logger, metrics, version } = options;
  const document = createDocument(routes, { version, headerPrefix: headerPrefixes[0]! });
  const router = mountRoutes(routes, { headerPrefixes, authenticate, idempotency, rateLimits });
  mountServiceRoutes(router, document, health);
  const cors = createCors({
    origins: options.corsOrigins,
    headerPrefixes,
    methodsOf: (path) => router.match(path, 'OPTIONS').path.flatMap(({ methods }) => methods),
  });

  const app = new Koa();
  // Koa would print what escapes the middleware; `problems` has logged it already.
  app.silent = true;
  app.use(requestSpans(options.tracing));
  app.use(prefixedHeaders(headerPrefixes));
  app.use(requestMetrics(metrics));
  app.use(cors.answers);
  app.use(problems(logger));
  app.use(rateLimits.onArrival);
  app.use(cors.preflights);
  app.use(router.routes());
  app.use(refuseUnmatched);
  return app;
}
