/** `low` is for what is looked at in passing: everything at the start, and now and then. */
export type Priority = 'normal' | 'low';

/** From first to last. */
export const PRIORITIES: readonly Priority[] = ['normal', 'low'];

/** A key that waits for its turn. */
export interface WaitingKey {
  key: string;
  priority: Priority;
  addedAtMs: number;
}

/** Keys in the order of their turns: first come, first served, within a priority. */
export interface Lanes {
  /** True where the key did not wait already. Where it waits with less priority, it is moved up. */
  add(key: string, priority: Priority, nowMs: number): boolean;
  has(key: string): boolean;
  /** Takes out the first key that may be taken. */
  take(mayTake: (key: string) => boolean): WaitingKey | undefined;
  readonly size: number;
  sizes(): Record<Priority, number>;
  clear(): void;
}

export function createLanes(): Lanes {
  /** When each key was added. */
  const lanes: Record<Priority, Map<string, number>> = { normal: new Map(), low: new Map() };

  return {
    add(key, priority, nowMs) {
      if (lanes.normal.has(key)) return false;
      const addedAtMs = lanes.low.get(key);
      if (addedAtMs !== undefined && priority === 'low') return false;
      lanes.low.delete(key);
      lanes[priority].set(key, addedAtMs ?? nowMs);
      return addedAtMs === undefined;
    },
    has: (key) => lanes.normal.has(key) || lanes.low.has(key),
    take(mayTake) {
      for (const priority of PRIORITIES) {
        for (const [key, addedAtMs] of lanes[priority]) {
          if (!mayTake(key)) continue;
          lanes[priority].delete(key);
          return { key, priority, addedAtMs };
        }
      }
      return undefined;
    },
    get size() {
      return lanes.normal.size + lanes.low.size;
    },
    sizes: () => ({ normal: lanes.normal.size, low: lanes.low.size }),
    clear() {
      lanes.normal.clear();
      lanes.low.clear();
    },
  };
}
