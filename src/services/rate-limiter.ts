import type { CounterStore } from '../data/rate-limits/counter-store.ts';
import type { CounterState, RateCounter } from '../domain/rate-limits.ts';

/** Lets requests through or refuses them. */
export interface RateLimiter {
  /** Counts one request on all of the counters, or on none where one of them refuses it. Gives how each stands. */
  admit(counters: readonly RateCounter[]): Promise<readonly CounterState[]>;
}

/**
 * A refused request is counted and taken back where other counters had room: for that moment another request may find
 * one place less than there is, but never one more.
 */
export function createRateLimiter(store: CounterStore): RateLimiter {
  return {
    async admit(counters) {
      const states = await Promise.all(counters.map((counter) => store.count(counter)));
      if (states.some(({ refused }) => refused)) {
        const counted = counters.filter((_, index) => !states[index]!.refused);
        await Promise.all(counted.map((counter) => store.takeBack(counter)));
      }
      return states;
    },
  };
}
