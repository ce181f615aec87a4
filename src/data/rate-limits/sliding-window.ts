import { RateLimiterCompatibleAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitRow } from '../../domain/rate-limits.ts';
import type { Clock } from '../../platform/clock.ts';

/** The requests that a counter let through within the window, and until when it refuses all. */
interface RequestLog {
  /** In ms since the epoch, ascending. Those before `head` have left the window. */
  times: number[];
  head: number;
  blockedUntil: number;
}

/** Counters of one row that are remembered at a time; where more are in use, those unused for longest are forgotten. */
const MAX_COUNTERS = 100_000;
/** So many times that have left the window are kept before the list is copied without them. */
const COMPACT_AT = 512;

/**
 * A limiter of the library that remembers in this process when it let requests through, which the library's own memory
 * limiter does not: its windows are fixed, and two bursts around a border pass twice the rate.
 *
 * Exact: in no window of the row's length are there more than its requests, and a request is let through as soon as
 * there is room. Costs eight bytes for each request in the window. Consumes one point at a time.
 */
export class SlidingWindowLimiter extends RateLimiterCompatibleAbstract {
  readonly #clock: Clock;
  readonly #requests: number;
  readonly #windowMs: number;
  readonly #blockMs: number;
  readonly #generationMs: number;
  // A counter that is not used for a whole generation has nothing left to say: it goes with the older map, unsearched.
  #recent = new Map<string, RequestLog>();
  #older = new Map<string, RequestLog>();
  #turnsAt = 0;

  constructor({ requests, windowSeconds, blockSeconds = 0 }: RateLimitRow, clock: Clock) {
    super();
    this.#clock = clock;
    this.#requests = requests;
    this.#windowMs = windowSeconds * 1000;
    this.#blockMs = blockSeconds * 1000;
    this.#generationMs = Math.max(this.#windowMs, this.#blockMs);
  }

  override consume(key: string): Promise<RateLimiterRes> {
    const now = this.#clock.now();
    const log = this.#find(key, now);
    // As every limiter of the library, it rejects with a result where it refuses.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    if (log.blockedUntil > now) return Promise.reject(this.#result(log, now, log.blockedUntil));
    this.#dropPast(log, now);
    if (log.times.length - log.head < this.#requests) {
      log.times.push(now);
      return Promise.resolve(this.#result(log, now, log.times[log.head]! + this.#windowMs));
    }
    const freeAt = log.times[log.head]! + this.#windowMs;
    if (this.#blockMs === 0) {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      return Promise.reject(this.#result(log, now, freeAt));
    }
    // The block takes the place of the window: once it ends, counting begins anew.
    log.blockedUntil = now + this.#blockMs;
    log.times = [];
    log.head = 0;
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    return Promise.reject(this.#result(log, now, log.blockedUntil));
  }

  override reward(key: string): Promise<RateLimiterRes> {
    const now = this.#clock.now();
    const log = this.#find(key, now);
    if (log.times.length > log.head) log.times.pop();
    return Promise.resolve(this.#result(log, now, now));
  }

  #find(key: string, now: number): RequestLog {
    if (now >= this.#turnsAt || this.#recent.size >= MAX_COUNTERS) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#turnsAt = now + this.#generationMs;
    }
    let log = this.#recent.get(key);
    if (log === undefined) {
      log = this.#older.get(key) ?? { times: [], head: 0, blockedUntil: 0 };
      this.#recent.set(key, log);
    }
    return log;
  }

  #dropPast(log: RequestLog, now: number): void {
    const { times } = log;
    while (log.head < times.length && times[log.head]! <= now - this.#windowMs) log.head++;
    if (log.head >= COMPACT_AT || log.head === times.length) {
      log.times = times.slice(log.head);
      log.head = 0;
    }
  }

  #result(log: RequestLog, now: number, freeAt: number): RateLimiterRes {
    const used = log.blockedUntil > now ? this.#requests : log.times.length - log.head;
    return new RateLimiterRes(this.#requests - used, Math.max(freeAt - now, 0), used);
  }
}
