import { DomainError } from '../domain/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReadinessCheck } from '../platform/health.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { KeyManagement } from './key-management.ts';
import { proveKeys, type KeyProofOptions } from './key-proof.ts';

/** Key management as requests use it, and whether it can be used. */
export interface KeyWatch {
  /**
   * The same key management. What fails as 'unavailable' says so to a caller and no more: the log has the reason. No
   * data key is made under a master key that does not unwrap those of this vault: it would be lost once that is mended.
   */
  readonly management: KeyManagement;
  /** Degraded while key management is away and data keys in memory may serve; rejects after that. */
  readonly check: ReadinessCheck;
  start(): void;
  stop(): void;
}

export interface KeyWatchOptions extends KeyProofOptions {
  /** How long a data key stays in memory. */
  readonly cacheTtlMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly intervals?: Partial<KeyWatchIntervals>;
}

/** In ms. The waits between two proofs are up to a fifth shorter or longer, so that replicas do not ask together. */
export interface KeyWatchIntervals {
  /** While it can be used: what requests do in between is proof too. */
  readonly up: number;
  /** While it cannot. */
  readonly down: number;
  /** How old a proof may be that is not repeated. */
  readonly fresh: number;
}

const DEFAULT_INTERVALS: KeyWatchIntervals = { up: 10_000, down: 1_500, fresh: 1_000 };

const UNAVAILABLE = 'Key management is unavailable: what needs a key that is not in memory cannot be done now.';

export function watchKeyManagement(options: KeyWatchOptions): KeyWatch {
  const { management, cacheTtlMs, clock, logger } = options;
  const intervals = { ...DEFAULT_INTERVALS, ...options.intervals };
  const gauges = createGauges(options.metrics);
  let isUp: boolean | undefined;
  let changedAt = clock.now();
  let succeededAt = -Infinity;
  let failure: unknown;
  let proof: Promise<void> | undefined;
  let provedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;

  const warmForMs = (): number => Math.max(0, succeededAt + cacheTtlMs - clock.now());

  function succeeded(): void {
    succeededAt = clock.now();
    gauges.lastSuccess.set(succeededAt / 1000);
  }

  function become(state: boolean): void {
    if (isUp === state) return;
    const wasDown = isUp === false;
    isUp = state;
    gauges.up.set(state ? 1 : 0);
    if (!state) {
      const fields = { error: failure, servesForSeconds: Math.round(warmForMs() / 1000) };
      logger.error(fields, 'Key management cannot be used; only data keys that are in memory serve, for a while');
    } else if (wasDown) {
      const fields = { downForSeconds: Math.round((clock.now() - changedAt) / 1000) };
      logger.info(fields, 'Key management can be used again');
    }
    changedAt = clock.now();
  }

  async function prove(): Promise<void> {
    try {
      await proveKeys(options);
      failure = undefined;
      succeeded();
    } catch (error) {
      failure = error;
    }
    provedAt = performance.now();
    become(failure === undefined);
  }

  function beginProof(): Promise<void> {
    return (proof ??= prove().finally(() => (proof = undefined)));
  }

  /** Finds out how it is, unless that is known already. Never rejects. */
  async function look(): Promise<void> {
    if (performance.now() - provedAt < intervals.fresh) return;
    await beginProof();
  }

  /** As `look`, from what is found out from now on alone. */
  async function lookAfresh(): Promise<void> {
    await proof;
    await beginProof();
  }

  function lookSoon(): void {
    soon ??= setTimeout(
      () => {
        soon = undefined;
        void look();
      },
      Math.max(0, provedAt + intervals.fresh - performance.now()),
    ).unref();
  }

  function refuseWhileDown(): void {
    if (isUp === false) throw unavailable(failure);
  }

  /** Single requests fail, or succeed, for many reasons: they only give rise to a look, which decides. */
  async function watched<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (isUp === true) lookSoon();
      throw unavailable(error);
    }
  }

  async function unwrapped(work: () => Promise<Buffer>): Promise<Buffer> {
    const plaintext = await watched(work);
    succeeded();
    if (isUp === false) lookSoon();
    return plaintext;
  }

  function schedule(): void {
    const waitMs = (isUp === false ? intervals.down : intervals.up) * (0.8 + 0.4 * Math.random());
    timer = setTimeout(() => void tick(), waitMs).unref();
  }

  async function tick(): Promise<void> {
    if (isUp !== true || clock.now() - succeededAt >= intervals.up * 0.8) await look();
    if (timer !== undefined) schedule();
  }

  return {
    management: {
      ...management,
      async createDataKey(master, tenantId) {
        if (isUp === false) await look();
        refuseWhileDown();
        const made = await watched(() => management.createDataKey(master, tenantId));
        // Only what is found out after it was made tells under which master key that was.
        await lookAfresh();
        if (isUp === false) made.plaintext.fill(0);
        refuseWhileDown();
        return made;
      },
      async unwrapDataKey(master, tenantId, wrapped) {
        try {
          return await unwrapped(() => management.unwrapDataKey(master, tenantId, wrapped));
        } catch (error) {
          // Where none unwraps, none was altered: they are in the wrong hands.
          if (!isUnavailable(error)) {
            await look();
            refuseWhileDown();
          }
          throw error;
        }
      },
    },
    async check() {
      if (isUp === undefined) await look();
      if (isUp === true) return undefined;
      if (warmForMs() > 0) return 'degraded';
      throw unavailable(failure);
    },
    start() {
      timer = setTimeout(() => void tick(), 0).unref();
    },
    stop() {
      clearTimeout(timer);
      clearTimeout(soon);
      timer = undefined;
    },
  };
}

function createGauges(metrics: Metrics) {
  return {
    up: metrics.gauge({
      name: 'key_management_up',
      help: '1 while data keys can be unwrapped, 0 while only those that are in memory serve.',
    }),
    lastSuccess: metrics.gauge({
      name: 'key_management_last_success_timestamp_seconds',
      help: 'When key management last did what it was asked for, in seconds since the Unix epoch.',
    }),
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unavailable';
}

function unavailable(cause: unknown): DomainError {
  return new DomainError('unavailable', UNAVAILABLE, { cause });
}
