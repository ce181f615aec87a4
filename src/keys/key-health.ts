import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';

/** What is known of key management. Each change is logged, once. */
export interface KeyHealth {
  /** Undefined until it was found out. */
  readonly isUp: boolean | undefined;
  /** Why it is not up. */
  readonly failure: unknown;
  /** Whether an unwrapped data key may still be in memory. */
  readonly mayBeWarm: boolean;
  /** It has done what it was asked for. */
  succeeded(): void;
  /** It was found to be up, or down where there is a failure. */
  found(failure: unknown): void;
  /** When it last did what it was asked for, by the clock. */
  readonly succeededAt: number;
}

export interface KeyHealthOptions {
  /** How long a data key stays in memory. */
  readonly cacheTtlMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export function createKeyHealth({ cacheTtlMs, clock, logger, metrics }: KeyHealthOptions): KeyHealth {
  const up = metrics.gauge({
    name: 'key_management_up',
    help: '1 while data keys can be unwrapped, 0 while only those that are in memory serve.',
  });
  const lastSuccess = metrics.gauge({
    name: 'key_management_last_success_timestamp_seconds',
    help: 'When key management last did what it was asked for, in seconds since the Unix epoch.',
  });
  let isUp: boolean | undefined;
  let changedAt = clock.now();
  let succeededAt = -Infinity;
  let failure: unknown;

  // Every key in memory was unwrapped by then.
  const warmForMs = (): number => Math.max(0, succeededAt + cacheTtlMs - clock.now());

  function logChange(wasDown: boolean): void {
    if (isUp === false) {
      const fields = { error: failure, servesForSeconds: Math.round(warmForMs() / 1000) };
      logger.error(fields, 'Key management cannot be used; only data keys that are in memory serve, for a while');
    } else if (wasDown) {
      const fields = { downForSeconds: Math.round((clock.now() - changedAt) / 1000) };
      logger.info(fields, 'Key management can be used again');
    }
  }

  return {
    get isUp() {
      return isUp;
    },
    get failure() {
      return failure;
    },
    get mayBeWarm() {
      return warmForMs() > 0;
    },
    get succeededAt() {
      return succeededAt;
    },
    succeeded() {
      succeededAt = clock.now();
      lastSuccess.set(succeededAt / 1000);
    },
    found(found) {
      failure = found;
      const wasUp = isUp;
      isUp = found === undefined;
      up.set(isUp ? 1 : 0);
      if (isUp === wasUp) return;
      logChange(wasUp === false);
      changedAt = clock.now();
    },
  };
}
