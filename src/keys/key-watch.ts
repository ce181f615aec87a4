import { DomainError } from '../domain/errors.ts';
import type { ReadinessCheck } from '../platform/health.ts';
import { createKeyHealth, type KeyHealthOptions } from './key-health.ts';
import { createKeyLooks, DEFAULT_LOOK_INTERVALS, type LookIntervals } from './key-looks.ts';
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

export interface KeyWatchOptions extends KeyProofOptions, KeyHealthOptions {
  readonly intervals?: Partial<LookIntervals>;
}

const UNAVAILABLE = 'Key management is unavailable: what needs a key that is not in memory cannot be done now.';

export function watchKeyManagement(options: KeyWatchOptions): KeyWatch {
  const { management, clock } = options;
  const intervals = { ...DEFAULT_LOOK_INTERVALS, ...options.intervals };
  const health = createKeyHealth(options);
  const looks = createKeyLooks({
    async find() {
      try {
        await proveKeys(options);
        health.succeeded();
        health.found(undefined);
      } catch (error) {
        health.found(error);
      }
    },
    isUp: () => health.isUp === true,
    isShown: () => clock.now() - health.succeededAt < intervals.up * 0.8,
    intervals,
  });

  function refuseWhileDown(): void {
    if (health.isUp === false) throw unavailable(health.failure);
  }

  /** Single requests fail, or succeed, for many reasons: they only give rise to a look, which decides. */
  async function watched<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (health.isUp === true) looks.lookSoon();
      throw unavailable(error);
    }
  }

  async function unwrapped(work: () => Promise<Buffer>): Promise<Buffer> {
    const plaintext = await watched(work);
    health.succeeded();
    if (health.isUp === false) looks.lookSoon();
    return plaintext;
  }

  return {
    management: {
      ...management,
      async createDataKey(master, tenantId) {
        if (health.isUp === false) await looks.look();
        refuseWhileDown();
        const made = await watched(() => management.createDataKey(master, tenantId));
        // Only what is found out after it was made tells under which master key that was.
        await looks.lookAfresh();
        if (health.isUp === false) made.plaintext.fill(0);
        refuseWhileDown();
        return made;
      },
      async unwrapDataKey(master, tenantId, wrapped) {
        try {
          return await unwrapped(() => management.unwrapDataKey(master, tenantId, wrapped));
        } catch (error) {
          // Where none unwraps, none was altered: the master key is another one.
          if (!isUnavailable(error)) {
            await looks.look();
            refuseWhileDown();
          }
          throw error;
        }
      },
    },
    async check() {
      if (health.isUp === undefined) await looks.look();
      if (health.isUp === true) return undefined;
      if (health.mayBeWarm) return 'degraded';
      throw unavailable(health.failure);
    },
    start: () => looks.start(),
    stop: () => looks.stop(),
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unavailable';
}

function unavailable(cause: unknown): DomainError {
  return new DomainError('unavailable', UNAVAILABLE, { cause });
}
