/** How many writes each object may still cause. */
export interface EventBudget {
  /** Takes one from the object's budget; false where nothing is left of it. */
  spend(object: string, nowMs: number): boolean;
}

interface Bucket {
  left: number;
  sinceMs: number;
}

// As client-go's spam filter: so many at once, then one each time that this has passed.
const BURST = 25;
const REFILL_MS = 300_000;

/** Of at most `capacity` objects: of the others, those that were quiet longest are forgotten, and begin anew. */
export function createEventBudget(capacity: number): EventBudget {
  const buckets = new Map<string, Bucket>();

  return {
    spend(object, nowMs) {
      const { left, sinceMs } = buckets.get(object) ?? { left: BURST, sinceMs: nowMs };
      const refilled = Math.min(left + Math.max(nowMs - sinceMs, 0) / REFILL_MS, BURST);
      const mayWrite = refilled >= 1;
      buckets.delete(object);
      buckets.set(object, { left: mayWrite ? refilled - 1 : refilled, sinceMs: nowMs });
      if (buckets.size > capacity) {
        const [quietest] = buckets.keys();
        if (quietest !== undefined) buckets.delete(quietest);
      }
      return mayWrite;
    },
  };
}
