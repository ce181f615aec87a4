import type { Context, Middleware } from 'koa';
import type { ApiContext } from '../state.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from './idempotency-key.ts';

export interface CorsOptions {
  /** Origins whose pages may call the API, spelt as browsers send them; `*` alone: any. None: no header is sent. */
  readonly origins: readonly string[];
  readonly headerPrefixes: readonly string[];
  /** The methods that a path takes; none where there is no such path. */
  readonly methodsOf: (path: string) => readonly string[];
}

/** The two places at which browsers are told what pages of other origins may do (CORS, in the Fetch standard). */
export interface Cors {
  /** Around all that answers, refusals too: a page that may not read a problem cannot tell what it did wrong. */
  readonly answers: Middleware;
  /** Where the address has been counted, and no key is asked for yet: browsers send none with a preflight. */
  readonly preflights: Middleware;
}

/** Behind each prefix. Those of the proxy too, so that a page can read that there is none. */
const REQUEST_HEADERS = ['API-KEY', 'TRACE-ID', IDEMPOTENCY_KEY, 'PROXY-KEY', 'PROXY-URL'];
/** Behind the prefix of the request. */
const PREFIXED_ANSWER_HEADERS = ['TRACE-ID', IDEMPOTENT_REPLAYED];
const ANSWER_HEADERS = [
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Location', 'Allow', 'WWW-Authenticate'],
  ...['Deprecation', 'Sunset', 'Link'],
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** What lets a page in, and with what the browser itself knows of the user. */
const ADMISSIONS = ['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials'];
/** How long browsers need not ask again, in seconds. */
const PREFLIGHT_LIFE = 600;

function isPreflight(ctx: Context): boolean {
  return ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '';
}

/**
 * Lets pages of the given origins call the API and read its answers. Never with credentials of the browser's own: a key
 * is sent by the page or not at all.
 */
export function createCors({ origins, headerPrefixes, methodsOf }: CorsOptions): Cors {
  const any = origins.includes('*');
  const requestHeaders = headerPrefixes.flatMap((prefix) => REQUEST_HEADERS.map((name) => `${prefix}-${name}`));

  function admits(ctx: Context): boolean {
    const origin = ctx.get('Origin');
    return origin !== '' && (any || origins.includes(origin));
  }

  function admit(ctx: ApiContext): void {
    // A cache must not give one origin what it keeps of another's, nor of none.
    ctx.vary('Origin');
    if (!admits(ctx)) return;
    ctx.set('Access-Control-Allow-Origin', any ? '*' : ctx.get('Origin'));
    if (isPreflight(ctx)) return;
    const prefixed = PREFIXED_ANSWER_HEADERS.map((name) => `${ctx.state.headerPrefix}-${name}`);
    ctx.set('Access-Control-Expose-Headers', [...prefixed, ...ANSWER_HEADERS].join(', '));
  }

  return {
    async answers(ctx, next) {
      await next();
      // Last: a reactor's own answer must not let in whom the deployer does not.
      for (const name of ADMISSIONS) ctx.remove(name);
      if (origins.length > 0) admit(ctx);
    },
    async preflights(ctx, next) {
      if (!isPreflight(ctx) || !admits(ctx)) {
        await next();
        return;
      }
      const served = new Set(methodsOf(ctx.path));
      const methods = METHODS.filter((method) => served.has(method));
      // Of an unknown path, browsers let simple methods through all the same, and the page reads the 404.
      if (methods.length > 0) ctx.set('Access-Control-Allow-Methods', methods.join(', '));
      ctx.set('Access-Control-Allow-Headers', [...requestHeaders, 'Content-Type'].join(', '));
      ctx.set('Access-Control-Max-Age', String(PREFLIGHT_LIFE));
      ctx.status = 204;
    },
  };
}
