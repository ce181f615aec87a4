import { createCounterStore, type CounterStore } from '../data/rate-limits/counter-store.ts';
import { connectToRedis } from '../data/rate-limits/redis-connection.ts';
import { createRedisLimiter } from '../data/rate-limits/redis-limiter.ts';
import { createSharedStore } from '../data/rate-limits/shared-store.ts';
import { SlidingWindowLimiter } from '../data/rate-limits/sliding-window.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { ShutdownStack } from '../platform/shutdown.ts';
import { createRateLimiter, type RateLimiter } from '../services/rate-limiter.ts';

export interface RateLimiterOptions {
  /** Counters are in memory where it is undefined. May hold a password. */
  readonly redisUrl: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly shutdown: ShutdownStack;
}

async function sharedStore(url: string, local: CounterStore, options: RateLimiterOptions): Promise<CounterStore> {
  const { logger, metrics, shutdown } = options;
  const shared = metrics.gauge({
    name: 'rate_limits_shared',
    help: '1 while the counters of rate limits are in Redis, 0 while each replica counts for itself.',
  });
  const connection = await connectToRedis({
    url,
    onChange(isUp) {
      shared.set(isUp ? 1 : 0);
      if (isUp) logger.info({}, 'Redis answers: replicas share the counters of rate limits');
      else logger.warn({}, 'Redis does not answer: each replica counts its own requests for the rate limits');
    },
  });
  shutdown.push('Redis', () => connection.close());
  return createSharedStore(
    connection,
    createCounterStore((row) => createRedisLimiter(connection.client, row)),
    local,
  );
}

/** Builds what counts requests: in this process, or in Redis where there is one. */
export async function startRateLimiter(options: RateLimiterOptions): Promise<RateLimiter> {
  const { redisUrl, clock } = options;
  const local = createCounterStore((row) => new SlidingWindowLimiter(row, clock));
  return createRateLimiter(redisUrl === undefined ? local : await sharedStore(redisUrl, local, options));
}
