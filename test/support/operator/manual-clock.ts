import type { Timers } from '../../../src/operator/timers.ts';

/** A clock that stands still until it is moved. */
export interface ManualClock extends Timers {
  /** Moves on, running what comes due in order, and lets promises settle in between. */
  advance(milliseconds: number): Promise<void>;
}

export function createManualClock(startMs = 0): ManualClock {
  let now = startMs;
  const timers = new Set<{ at: number; callback: () => void }>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    schedule(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(milliseconds) {
      const end = now + milliseconds;
      await settle();
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = next.at;
        next.callback();
        await settle();
      }
      now = end;
    },
  };
}
