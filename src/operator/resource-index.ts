/** Finds items by keys that follow from them. */
export interface ResourceIndex<Item> {
  add(item: Item): void;
  remove(item: Item): void;
  /** In the order in which they were added. */
  find(key: string): ReadonlySet<Item>;
}

const NONE: ReadonlySet<never> = new Set();

/** An item may have any number of keys. It is taken out under those that it had when it was added. */
export function createIndex<Item extends object>(keysOf: (item: Item) => Iterable<string>): ResourceIndex<Item> {
  const items = new Map<string, Set<Item>>();
  const keys = new Map<Item, ReadonlySet<string>>();

  function remove(item: Item): void {
    for (const key of keys.get(item) ?? []) {
      const found = items.get(key);
      found?.delete(item);
      if (found?.size === 0) items.delete(key);
    }
    keys.delete(item);
  }

  return {
    add(item) {
      remove(item);
      const own = new Set(keysOf(item));
      if (own.size === 0) return;
      keys.set(item, own);
      for (const key of own) items.set(key, (items.get(key) ?? new Set()).add(item));
    },
    remove,
    find: (key) => items.get(key) ?? NONE,
  };
}
