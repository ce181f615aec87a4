import type { Middleware } from 'koa';
import type { Caller } from '../../domain/caller.ts';
import { isLegacyKey } from '../../domain/application-keys.ts';
import { clientAddress } from '../client-address.ts';
import { DomainError } from '../../domain/errors.ts';
import {
  addressCounters,
  callerCounters,
  longestRefusal,
  lowestRate,
  type CounterState,
  type RateCounter,
} from '../../domain/rate-limits.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { RateLimiter } from '../../services/rate-limiter.ts';
import type { ApiContext } from '../state.ts';

export interface RateLimitOptions {
  readonly limiter: RateLimiter;
  /** How many proxies in front of the API append to `X-Forwarded-For`; 0: addresses are those of the connections. */
  readonly trustedProxies: number;
  /** Whether an address by itself is counted; off where many clients share one. */
  readonly ipRateLimits: boolean;
  readonly metrics: Metrics;
}

/** The two places at which a request may be refused for coming too often. */
export interface RateLimits {
  /** Before anything is known of the caller: also unauthenticated and unmatched requests are counted. */
  readonly byAddress: Middleware;
  /** Once the key has shown the caller. Throws 'rate-limited'. */
  byCaller(ctx: ApiContext, caller: Caller, key: string): Promise<void>;
}

/** Probes come often and from one address, and must find out how the process is. */
const EXEMPT_PATHS = new Set(['/healthz', '/readyz']);

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

// As in draft-ietf-httpapi-ratelimit-headers-11: `q` requests in `w` seconds; `r` are left, and `t` seconds on there
// are more.
function show(ctx: ApiContext, { row, remaining, waitMs }: CounterState): void {
  ctx.set('RateLimit-Policy', `"${row.name}";q=${row.requests};w=${row.windowSeconds}`);
  ctx.set('RateLimit', `"${row.name}";r=${remaining};t=${seconds(waitMs)}`);
}

/** Counts requests, refuses those over a limit, and tells of the lowest rate that applies in the RateLimit headers. */
export function createRateLimits({ limiter, trustedProxies, ipRateLimits, metrics }: RateLimitOptions): RateLimits {
  const refusals = metrics.counter({
    name: 'rate_limited_requests_total',
    help: 'Requests refused with 429, by the rate limit that refused longest; limits of tenants’ own are "custom".',
    labels: ['limit'],
  });
  const unusable = metrics.counter({
    name: 'forwarded_addresses_unusable_total',
    help: 'Requests whose X-Forwarded-For did not name the client behind the trusted proxies.',
  });

  async function admit(ctx: ApiContext, counters: readonly RateCounter[], isCustom = false): Promise<void> {
    const counted = ipRateLimits ? counters : counters.filter(({ kind }) => kind !== 'ip');
    if (counted.length === 0) return;
    const states = await limiter.admit(counted);
    const refusal = longestRefusal(states);
    const { rateLimit } = ctx.state;
    ctx.state.rateLimit = refusal ?? lowestRate(rateLimit === undefined ? states : [rateLimit, ...states])!;
    show(ctx, ctx.state.rateLimit);
    if (refusal === undefined) return;
    const { row, waitMs } = refusal;
    refusals.inc({ limit: isCustom ? 'custom' : row.name });
    const retryAfter = seconds(waitMs);
    ctx.set('Retry-After', String(retryAfter));
    throw new DomainError(
      'rate-limited',
      `More than ${row.requests} requests in ${row.windowSeconds} s. Try again in ${retryAfter} s.`,
    );
  }

  return {
    async byAddress(context, next) {
      const ctx = context as ApiContext;
      const client = clientAddress(ctx.req.socket.remoteAddress, ctx.get('X-Forwarded-For'), trustedProxies);
      ctx.state.clientAddress = client.address;
      if (!EXEMPT_PATHS.has(ctx.path)) {
        if (client.fellBack) unusable.inc();
        await admit(ctx, addressCounters(client.address));
      }
      await next();
    },
    async byCaller(ctx, caller, key) {
      const { tenantId, tenantType, applicationType, keyId, quotas } = caller;
      const counters = callerCounters({
        ...{ method: ctx.method, routePath: ctx.state.routePath!, address: ctx.state.clientAddress },
        ...{ tenantId, tenantType, applicationType, keyId, legacyKey: isLegacyKey(key), quota: quotas.rateLimit },
      });
      await admit(ctx, counters, quotas.rateLimit.plan === 'Custom');
    },
  };
}
