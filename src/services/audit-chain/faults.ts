import type { EntryKey } from '../../domain/audit-chain.ts';

/**
 * What verification finds first:
 * - `altered`, `missing`, `reordered`: an entry is not as it was linked, is gone, or bears another time.
 * - `unlinked`: an entry that no link holds was put beside them; `backdated`: one that was linked as it came, long
 *   before or after the time that it bears.
 * - `link altered`, `link missing`, `link added`: the same of a link, with whatever entries it held.
 * - `head altered`: a sealed head does not bear the seal of the key management.
 */
export type FaultKind =
  | 'altered'
  | 'missing'
  | 'reordered'
  | 'unlinked'
  | 'backdated'
  | 'link altered'
  | 'link missing'
  | 'link added'
  | 'head altered';

/** Where it is. The entry is unknown where a whole link is at fault, the link where an entry is in none. */
export interface Fault {
  readonly kind: FaultKind;
  readonly entry?: EntryKey;
  readonly chain?: { readonly writer: string; readonly hour: Date };
  /** The link's number. */
  readonly n?: number;
  /** What was found, in words; never what an entry says. */
  readonly detail: string;
  /** By which the first of several faults is told. */
  readonly at: Date;
}

/** The earlier of two faults, where there is any. */
export function earlier(one: Fault | undefined, other: Fault | undefined): Fault | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.at < one.at ? other : one;
}
