import { createHash } from 'node:crypto';
import type Router from '@koa/router';
import { type Health, readinessAnswer } from '../platform/health.ts';
import type { Schema } from './route.ts';
import { PAGE_STYLE } from './openapi/page-style.ts';
import { renderPage } from './openapi/page.ts';

const STYLE_HASH = createHash('sha256').update(PAGE_STYLE).digest('base64');
/** The page may be styled by its one style sheet, and nothing else. */
const PAGE_POLICY = [
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'`,
  `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
].join('; ');

/** What needs no key: liveness, readiness, and the API's own description. */
export function mountServiceRoutes(router: Router, document: Schema, health: Health): void {
  const json = JSON.stringify(document);
  const page = renderPage(document);

  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const { status, body } = await readinessAnswer(health);
    ctx.status = status;
    ctx.body = body;
  });
  router.get('/openapi.json', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = json;
  });
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    ctx.type = 'text/html';
    ctx.body = page;
  });
}
