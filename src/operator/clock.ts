/** Time, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `callback` once after `delayMs`, and returns what cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

// Longer delays make setTimeout fire at once.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The machine's clock. Callbacks that are more than 24 days away come early: at 24 days. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), LONGEST_TIMEOUT_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves once `work` does, or after `limitMs`, whichever comes first. `work` must not reject. */
export function settledWithin(clock: Clock, limitMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(limitMs, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}
