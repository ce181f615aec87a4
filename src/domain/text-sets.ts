/**
 * A set of texts: one text alone, or every text that begins with a prefix. Of two such sets, either one contains the
 * other or they have nothing in common.
 */
export interface TextSet {
  readonly kind: 'only' | 'prefix';
  readonly text: string;
}

/** Whether every text of `inner` is in `outer`. */
export function containsSet(outer: TextSet, inner: TextSet): boolean {
  if (outer.kind === 'prefix') return inner.text.startsWith(outer.text);
  return inner.kind === 'only' && inner.text === outer.text;
}

/** The texts that are in `whole` and in all of the sets; undefined where there are none. */
export function intersectSets(whole: TextSet, sets: readonly TextSet[]): TextSet | undefined {
  let smallest = whole;
  for (const set of sets) {
    if (containsSet(smallest, set)) smallest = set;
    else if (!containsSet(set, smallest)) return undefined;
  }
  return smallest;
}

/** Each different one of the sets, once. */
export function distinctSets(sets: readonly TextSet[]): TextSet[] {
  return [...new Map(sets.map((set) => [`${set.kind} ${set.text}`, set])).values()];
}
