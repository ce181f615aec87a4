import type { Middleware } from 'koa';
import type { Caller } from '../../domain/caller.ts';
import { isLegacyKey } from '../../domain/application-keys.ts';
import { DomainError } from '../../domain/errors.ts';
import {
  addressCounters,
  callerCounters,
  CALLS_PER_INVOCATION,
  longestRefusal,
  lowestRate,
  type CounterState,
  type RateCounter,
} from '../../domain/rate-limits.ts';
import type { RateLimiter } from '../../services/rate-limiter.ts';
import { PROBES } from '../probes.ts';
import type { ApiContext } from '../state.ts';
import { type ClientAddressOptions, createClientAddresses } from './client-addresses.ts';
import { readPrefixedHeader } from './headers.ts';

export interface RateLimitOptions extends ClientAddressOptions {
  readonly limiter: RateLimiter;
  /** Whether an address by itself is counted; off where many clients share one. */
  readonly ipRateLimits: boolean;
  readonly headerPrefixes: readonly string[];
  /** Counts a call with the key of a reactor's invocation; gives how many there have been. Undefined: another key. */
  readonly countCall: (key: string) => number | undefined;
}

/** The two places at which a request may be refused for coming too often. */
export interface RateLimits {
  /**
   * Before anything is known of the caller: also unauthenticated and unmatched requests are counted. Calls of reactors
   * are counted on their invocation instead.
   */
  readonly onArrival: Middleware;
  /** Once the key has shown the caller. Throws 'rate-limited'. */
  byCaller(ctx: ApiContext, caller: Caller, key: string): Promise<void>;
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

// As in draft-ietf-httpapi-ratelimit-headers-11: `q` requests in `w` seconds; `r` are left, and `t` seconds on there
// are more.
function show(ctx: ApiContext, { row, remaining, waitMs }: CounterState): void {
  ctx.set('RateLimit-Policy', `"${row.name}";q=${row.requests};w=${row.windowSeconds}`);
  ctx.set('RateLimit', `"${row.name}";r=${remaining};t=${seconds(waitMs)}`);
}

/** Counts requests, refuses those over a limit, and tells of the lowest rate that applies in the RateLimit headers. */
export function createRateLimits(options: RateLimitOptions): RateLimits {
  const { limiter, ipRateLimits, headerPrefixes, countCall, metrics } = options;
  const addressOf = createClientAddresses(options);
  const refusals = metrics.counter({
    name: 'rate_limited_requests_total',
    help: 'Requests refused with 429, by the rate limit that refused longest; limits of tenants’ own are "custom".',
    labels: ['limit'],
  });

  function refuse(ctx: ApiContext, limit: string, retryAfter: number, detail: string): never {
    refusals.inc({ limit });
    ctx.set('Retry-After', String(retryAfter));
    throw new DomainError('rate-limited', detail);
  }

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
    const retryAfter = seconds(waitMs);
    const detail = `More than ${row.requests} requests in ${row.windowSeconds} s. Try again in ${retryAfter} s.`;
    refuse(ctx, isCustom ? 'custom' : row.name, retryAfter, detail);
  }

  async function admitOnArrival(ctx: ApiContext): Promise<void> {
    const key = readPrefixedHeader(ctx, headerPrefixes, 'API-KEY')?.value;
    const calls = key === undefined ? undefined : countCall(key);
    if (calls === undefined) {
      ctx.state.clientAddress = addressOf(ctx);
      await admit(ctx, addressCounters(ctx.state.clientAddress));
    } else if (calls > CALLS_PER_INVOCATION) {
      // The next invocation may call at once.
      refuse(ctx, 'invocation', 1, `A reactor may make ${CALLS_PER_INVOCATION} calls in one invocation.`);
    }
  }

  return {
    async onArrival(ctx, next) {
      // They come often and from one address, and must find out how the process is.
      if (!PROBES.has(ctx.path)) await admitOnArrival(ctx);
      await next();
    },
    async byCaller(ctx, caller, key) {
      const { tenantId, tenantType, applicationType, keyId, quotas } = caller;
      const counters = callerCounters({
        method: ctx.method,
        routePath: ctx.state.routePath!,
        address: ctx.state.clientAddress,
        keyId,
        legacyKey: isLegacyKey(key),
        tenantId,
        tenantType,
        applicationType,
        quota: quotas.rateLimit,
      });
      await admit(ctx, counters, quotas.rateLimit.plan === 'Custom');
    },
  };
}
