/**
 * When keys in memory are unwrapped again ahead of time, in ms since the epoch: past half of their time, so that an
 * outage of key management finds those in use with at least half of it left.
 */
export function staleAt(now: number, ttlMs: number): number {
  return now + ttlMs / 2;
}

/** When a key is tried again that could not be unwrapped ahead of time: seldom enough not to press on an outage. */
export function retryAt(now: number, ttlMs: number): number {
  return now + ttlMs / 60;
}
