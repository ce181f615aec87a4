/** Where the time comes from; tests put their own in its place. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** The machine's wall clock. */
export const systemClock: Clock = { now: () => Date.now() };
