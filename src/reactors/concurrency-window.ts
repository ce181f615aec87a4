import type { DemandAverage } from '../domain/declarations.ts';

const SECOND_MS = 1_000;
const STABLE_SECONDS = 60;
const PANIC_SECONDS = 6;

/**
 * The number of invocations that were there at a time, averaged over time: neither how often it is asked nor how short
 * an invocation is changes what it tells. Times are in milliseconds, of any clock that never goes back.
 */
export class ConcurrencyWindow {
  /** Invocations times milliseconds, by the second in which they were; a ring, a second longer than the window. */
  readonly #buckets = new Float64Array(STABLE_SECONDS + 1);
  #level = 0;
  /** Up to when everything is in the buckets. */
  #upTo = -Infinity;
  /** Since when there has been demand, with no quiet time as long as the whole window. */
  #since = -Infinity;
  /** When there last was any. */
  #lastAt = -Infinity;

  /** From now on so many are there. */
  set(level: number, now: number): void {
    this.#advance(now);
    if (this.#level === 0 && level > 0 && now - this.#lastAt >= STABLE_SECONDS * SECOND_MS) this.#since = now;
    if (level > 0 || this.#level > 0) this.#lastAt = now;
    this.#level = level;
  }

  average(now: number): DemandAverage {
    this.#advance(now);
    return { stable: this.#averageOf(STABLE_SECONDS, now), panic: this.#averageOf(PANIC_SECONDS, now) };
  }

  /** Of the last seconds, or since demand began where that is less: a burst out of the blue counts in full at once. */
  #averageOf(seconds: number, now: number): number {
    if (this.#since === -Infinity) return 0;
    const lengthMs = Math.min(seconds * SECOND_MS, now - this.#since);
    if (lengthMs <= 0) return this.#level;
    const start = now - lengthMs;
    const oldest = secondOf(start);
    // Of the oldest second a part is left, over which it is taken to have been spread evenly.
    const share = start === this.#since ? 1 : oldest + 1 - start / SECOND_MS;
    let total = this.#buckets[this.#indexOf(oldest)]! * share;
    // A second that begins right now holds nothing yet, and its bucket what was there a turn of the ring before.
    for (let second = oldest + 1; second * SECOND_MS < now; second += 1) total += this.#buckets[this.#indexOf(second)]!;
    return total / lengthMs;
  }

  #advance(now: number): void {
    if (this.#upTo === -Infinity) this.#upTo = now;
    const size = this.#buckets.length;
    // Of a longer time, the last turn of the ring is all that would be left.
    let at = Math.max(this.#upTo, (secondOf(now) - size + 1) * SECOND_MS);
    while (at < now) {
      const second = secondOf(at);
      const end = Math.min((second + 1) * SECOND_MS, now);
      const index = this.#indexOf(second);
      if (at === second * SECOND_MS) this.#buckets[index] = 0;
      this.#buckets[index]! += this.#level * (end - at);
      at = end;
    }
    this.#upTo = Math.max(this.#upTo, now);
  }

  #indexOf(second: number): number {
    return second % this.#buckets.length;
  }
}

function secondOf(time: number): number {
  return Math.floor(time / SECOND_MS);
}
