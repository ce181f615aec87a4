import type Router from '@koa/router';
import type { Health } from '../platform/health.ts';
import type { Schema } from './route.ts';
import { renderPage } from './openapi/page.ts';

/** What needs no key: liveness, readiness, and the API's own description. */
export function mountServiceRoutes(router: Router, document: Schema, health: Health): void {
  const json = JSON.stringify(document);
  const page = renderPage(document);

  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const { ready, failures } = await health.readiness();
    ctx.status = ready ? 200 : 503;
    ctx.body = { status: ready ? 'ready' : 'not ready', failures };
  });
  router.get('/openapi.json', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = json;
  });
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'");
    ctx.type = 'text/html';
    ctx.body = page;
  });
}
