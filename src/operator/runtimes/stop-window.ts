import type { StopReason } from '../../domain/reactor-supervision.ts';

const WINDOW_MS = 60_000;
const MANY = 5;
const WORDS: Record<StopReason, string> = {
  'timed-out': 'it did not finish in time',
  'out-of-memory': 'it ran out of memory',
  crashed: 'it crashed',
};

/** Counts how often the code of a reactor had to be stopped lately. */
export class StopWindow {
  #times: number[] = [];
  #last: StopReason = 'crashed';

  add(reason: StopReason, now: number): void {
    this.#last = reason;
    this.#times = [...this.#times.filter((time) => now - time < WINDOW_MS), now].slice(-MANY);
  }

  /** What to tell a person, once it is many times a minute; undefined before, and a minute after. */
  failure(now: number): string | undefined {
    const recent = this.#times.filter((time) => now - time < WINDOW_MS);
    if (recent.length < MANY) return undefined;
    return `The code was stopped ${MANY} times or more in the last minute; the last time, ${WORDS[this.#last]}.`;
  }

  /** Milliseconds until `failure` may say something else. */
  expiresIn(now: number): number {
    return Math.max((this.#times[0] ?? now) + WINDOW_MS - now, 0);
  }
}
