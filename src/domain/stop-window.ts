import type { StopReason } from './reactor-supervision.ts';

const WINDOW_MS = 60_000;
const MANY = 5;
const WORDS: Record<StopReason, string> = {
  'timed-out': 'it did not finish in time',
  'out-of-memory': 'it ran out of memory',
  crashed: 'it crashed',
};

/** Counts how often the code of a reactor had to be stopped lately. Times are in ms. */
export class StopWindow {
  #times: number[] = [];
  #last: StopReason = 'crashed';

  add(reason: StopReason, now: number): void {
    this.#last = reason;
    this.#times = [...this.#recent(now), now].slice(-MANY);
  }

  /** Why it was stopped last, once it is many times a minute; undefined before, and a minute after. */
  reason(now: number): StopReason | undefined {
    return this.#recent(now).length < MANY ? undefined : this.#last;
  }

  /** Whether nothing of the last minute is remembered. */
  isEmpty(now: number): boolean {
    return this.#recent(now).length === 0;
  }

  /** Milliseconds until `reason` may say something else. */
  expiresIn(now: number): number {
    return Math.max((this.#times[0] ?? now) + WINDOW_MS - now, 0);
  }

  #recent(now: number): number[] {
    return this.#times.filter((time) => now - time < WINDOW_MS);
  }
}

/** What to tell a person of code that is stopped many times a minute. */
export function describeStops(reason: StopReason): string {
  return `The code was stopped ${MANY} times or more in the last minute; the last time, ${WORDS[reason]}.`;
}
