import { RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { CounterState, RateCounter, RateLimitRow } from '../../domain/rate-limits.ts';

/** Counts requests. */
export interface CounterStore {
  /** Counts one request, or refuses it, which counts nothing. */
  count(counter: RateCounter): Promise<CounterState>;
  /** Takes back one request that was counted. */
  takeBack(counter: RateCounter): Promise<void>;
}

/** What both kinds of limiters have: a refusal rejects with a RateLimiterRes. */
export type Limiter = Pick<RateLimiterAbstract, 'consume' | 'reward'>;

/** Tenants' own rows come and go; of so many different rates the limiters are kept. */
const MAX_LIMITERS = 1000;

function stateOf({ row }: RateCounter, refused: boolean, result: RateLimiterRes): CounterState {
  return { row, refused, remaining: result.remainingPoints, waitMs: result.msBeforeNext };
}

/** A store that keeps one limiter for each rate, for all rows that have it. */
export function createCounterStore(createLimiter: (row: RateLimitRow) => Limiter): CounterStore {
  const limiters = new Map<string, Limiter>();

  function limiterOf(row: RateLimitRow): Limiter {
    const rate = `${row.requests}/${row.windowSeconds}/${row.blockSeconds ?? 0}`;
    let limiter = limiters.get(rate);
    if (limiter === undefined) {
      limiter = createLimiter(row);
      limiters.set(rate, limiter);
      if (limiters.size > MAX_LIMITERS) limiters.delete(limiters.keys().next().value!);
    }
    return limiter;
  }

  return {
    async count(counter) {
      try {
        return stateOf(counter, false, await limiterOf(counter.row).consume(counter.id));
      } catch (result) {
        if (!(result instanceof RateLimiterRes)) throw result;
        return stateOf(counter, true, result);
      }
    },
    async takeBack({ row, id }) {
      await limiterOf(row).reward(id);
    },
  };
}
