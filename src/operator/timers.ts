import { systemClock } from '../platform/clock.ts';
import type { Clock } from '../platform/clock.ts';

/** A clock that also calls back, so that tests can move what is put off too. */
export interface Timers extends Clock {
  /** Runs `callback` once after `delayMs`, and returns what cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

// Longer delays make setTimeout fire at once.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The machine's. Callbacks that are more than 24 days away come early: at 24 days. */
export const systemTimers: Timers = {
  ...systemClock,
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMEOUT_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves once `work` does, or after `limitMs`, whichever comes first. `work` must not reject. */
export function settledWithin(timers: Timers, limitMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timers.schedule(limitMs, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}

/** Resolves after `delayMs`, or at once where `signal` aborts. */
export function pause(timers: Timers, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = timers.schedule(delayMs, end);
    signal.addEventListener('abort', end);
  });
}
