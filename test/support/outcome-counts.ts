/** Counts how often each kind of outcome came up, so that a random test shows what it has really tried. */
export interface OutcomeCounts<Kind extends string> {
  count(kind: Kind): void;
  /** The kinds that never came up. */
  readonly missing: readonly Kind[];
  /** One line for each kind. */
  toString(): string;
}

export function createOutcomeCounts<Kind extends string>(kinds: readonly Kind[]): OutcomeCounts<Kind> {
  const counts = new Map<Kind, number>(kinds.map((kind) => [kind, 0]));
  return {
    count(kind) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    },
    get missing() {
      return kinds.filter((kind) => counts.get(kind) === 0);
    },
    toString() {
      return [...counts].map(([kind, count]) => `${String(count).padStart(10)}  ${kind}\n`).join('');
    },
  };
}
