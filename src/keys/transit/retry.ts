import { setTimeout as delay } from 'node:timers/promises';

export interface RetryLimits {
  /** In all. */
  readonly tries: number;
  /** The longest wait before the second try; it doubles with each further one. */
  readonly firstWaitMs: number;
}

const DEFAULT_RETRY_LIMITS: RetryLimits = { tries: 3, firstWaitMs: 150 };

/**
 * Repeats `work` after failures that may pass. Waits are random between nothing and their bound (full jitter), so that
 * many who failed together do not come back together. Rejects as the last try did.
 */
export async function retrying<Result>(
  work: () => Promise<Result>,
  mayPass: (error: unknown) => boolean,
  { tries, firstWaitMs }: RetryLimits = DEFAULT_RETRY_LIMITS,
): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (tried >= tries || !mayPass(error)) throw error;
    }
    await delay(Math.random() * firstWaitMs * 2 ** (tried - 1));
  }
}
