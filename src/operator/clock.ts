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
