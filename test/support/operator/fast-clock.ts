import { systemTimers } from '../../../src/operator/timers.ts';
import type { Timers } from '../../../src/operator/timers.ts';

/** A clock that goes so many times faster than the machine's, and begins at the same time. */
export function createFastClock(factor: number): Timers {
  const startedAt = systemTimers.now();
  return {
    now: () => startedAt + (systemTimers.now() - startedAt) * factor,
    schedule: (delayMs, callback) => systemTimers.schedule(delayMs / factor, callback),
  };
}
