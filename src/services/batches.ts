import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable } from '../data/database.ts';

/** Removes at most `limit` rows in one statement; gives how many. */
export type RemoveRows = (queryable: Queryable, limit: number) => Promise<number>;

export interface BatchOptions {
  /** Rows that one statement removes at most, so that none holds locks for long. */
  readonly size: number;
  /** Ends the work after the batch under way. */
  readonly signal: AbortSignal;
}

/**
 * Removes rows batch by batch until one is not full; gives how many. Rests after each batch for as long as it took: on
 * a busy server batches take longer, and live traffic gets the more room.
 */
export async function removeInBatches(
  remove: RemoveRows,
  queryable: Queryable,
  { size, signal }: BatchOptions,
): Promise<number> {
  for (let removed = 0; ;) {
    const began = performance.now();
    const last = await remove(queryable, size);
    removed += last;
    if (last < size) return removed;
    // Rejects where it is aborted, and for nothing else.
    await delay(performance.now() - began, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return removed;
  }
}
