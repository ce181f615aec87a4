import type { RedisClientType } from '@redis/client';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { RateLimitRow } from '../../domain/rate-limits.ts';
import type { Limiter } from './counter-store.ts';

/**
 * Takes the place of the library's fixed window: a list of the times at which requests were let through, by the clock
 * of Redis, which all replicas share. Arguments are the library's: points, and third and fourth the row's requests and
 * seconds. Gives, as the library expects, the points in use and the milliseconds until there is room for one more.
 *
 * More points in use than the row has is a refusal. The library counts a refusal by one too many as the first, upon
 * which it puts a block in the place of the list: a string, which lives as long as the block.
 */
const SLIDING_WINDOW = `
local key, points, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3]), ARGV[4] * 1000
if redis.call('type', key).ok == 'string' then return {limit + 2, redis.call('pttl', key)} end
if points < 0 then
  redis.call('rpop', key)
  return {redis.call('llen', key), 0}
end
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local oldest = tonumber(redis.call('lindex', key, 0) or now)
while oldest <= now - window do
  redis.call('lpop', key)
  oldest = tonumber(redis.call('lindex', key, 0) or now)
end
local used = redis.call('llen', key)
if used >= limit then return {limit + 1, oldest + window - now} end
redis.call('rpush', key, string.format('%.0f', now))
redis.call('pexpire', key, window)
return {used + 1, oldest + window - now}
`;

/**
 * A limiter of the library whose counters all replicas share. Guarantees what SlidingWindowLimiter does. A counter
 * that has refused is not asked for again before it can have room.
 */
export function createRedisLimiter(client: RedisClientType, row: RateLimitRow): Limiter {
  const { requests, windowSeconds, blockSeconds = 0 } = row;
  return new RateLimiterRedis({
    storeClient: client,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: 'tokenkeep:rate',
    points: requests,
    duration: windowSeconds,
    blockDuration: blockSeconds,
    customIncrTtlLuaScript: SLIDING_WINDOW,
    // Not the first refusal of a row that blocks, which has yet to put its block into Redis.
    inMemoryBlockOnConsumed: blockSeconds === 0 ? requests + 1 : requests + 2,
  });
}
