export interface Backoff {
  /** How long to wait after one more failure, in ms. */
  next(): number;
  /** After a success. */
  reset(): void;
}

export interface BackoffOptions {
  firstMs: number;
  longestMs: number;
  /** At least 0, less than 1. Default `Math.random`. */
  random?: () => number;
}

/** Waits twice as long each time, each by chance up to a half shorter: those who failed together come back apart. */
export function createBackoff({ firstMs, longestMs, random = Math.random }: BackoffOptions): Backoff {
  let failures = 0;
  return {
    next() {
      const whole = Math.min(firstMs * 2 ** failures, longestMs);
      failures += 1;
      return whole * (1 - random() / 2);
    },
    reset: () => void (failures = 0),
  };
}
