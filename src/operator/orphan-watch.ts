import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';

/** How long the API has to say without a break that it holds a reactor no more, if nobody told that it was deleted. */
const GRACE_MS = 5 * 60_000;
/**
 * The same where it says that it holds none at all: it is likely to have been given another database, or a new one,
 * and somebody will notice within this time.
 */
const EMPTY_GRACE_MS = 24 * 60 * 60_000;

/** What one full look at the API's list has found. Keys are of reactors. */
export interface Look {
  /** Of those that run, which it does not list, not even as damaged. */
  missing: readonly string[];
  isListEmpty: boolean;
  /** Those of which the API has told since the look before that they were changed: what it does not list, it deleted. */
  told: ReadonlySet<string>;
}

/** Tells what was deleted from what the API only fails to list, as over a wrong database. */
export interface OrphanWatch {
  /** Which of what is missing is to be removed. */
  judge(look: Look): ReadonlySet<string>;
}

export function createOrphanWatch(clock: Clock, logger: Logger): OrphanWatch {
  /** Since when each is missing, in milliseconds since the epoch. */
  let missingSince = new Map<string, number>();
  /** Once judged to be removed, it is until it is listed again. */
  let removed = new Set<string>();
  let wasEmpty = false;

  return {
    judge({ missing, isListEmpty, told }) {
      const now = clock.now();
      // What held over an empty list says nothing about another one.
      if (isListEmpty !== wasEmpty) missingSince = new Map();
      wasEmpty = isListEmpty;
      const graceMs = isListEmpty ? EMPTY_GRACE_MS : GRACE_MS;
      const isLong = (key: string) => now - (missingSince.get(key) ?? now) >= graceMs;
      removed = new Set(missing.filter((key) => removed.has(key) || told.has(key) || isLong(key)));
      const kept = missing.filter((key) => !removed.has(key));
      const fresh = kept.filter((key) => !missingSince.has(key));
      missingSince = new Map(kept.map((key) => [key, missingSince.get(key) ?? now]));
      if (fresh.length > 0) {
        const seconds = graceMs / 1000;
        logger.warn(
          { reactors: fresh, seconds, isListEmpty },
          'Reactors run that the API does not list: they are kept',
        );
      }
      return removed;
    },
  };
}
