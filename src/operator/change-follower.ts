import type { DeclarationChange } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import { createBackoff } from './backoff.ts';
import { pause } from './timers.ts';
import type { Timers } from './timers.ts';
import type { InternalClient } from './internal-client.ts';

export interface ChangeFollower {
  /** Resolves with the first line of the first connection. */
  readonly connected: Promise<void>;
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** Follows the change stream of the API, connecting again whenever it breaks. */
export function followChanges(
  api: InternalClient,
  clock: Timers,
  logger: Logger,
  listener: (change: DeclarationChange) => void,
): ChangeFollower {
  const stopping = new AbortController();
  const { promise: connected, resolve: markConnected } = Promise.withResolvers<void>();

  async function followOnce(): Promise<boolean> {
    let hasAnswered = false;
    try {
      for await (const change of api.changes(stopping.signal)) {
        hasAnswered = true;
        markConnected();
        listener(change);
      }
    } catch (error) {
      if (!stopping.signal.aborted) logger.debug({ error }, 'Lost the change stream of the API');
    }
    return hasAnswered;
  }

  async function follow(): Promise<void> {
    const backoff = createBackoff({ firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS });
    while (!stopping.signal.aborted) {
      if (await followOnce()) backoff.reset();
      await pause(clock, backoff.next(), stopping.signal);
    }
  }

  const following = follow();
  return {
    connected,
    async stop() {
      stopping.abort();
      await following;
    },
  };
}
