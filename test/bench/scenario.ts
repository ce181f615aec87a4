import type { Operation } from './load-loop.ts';

/** A request of ours, beside what bounds it: the same work without us. */
export interface Scenario {
  readonly name: string;
  readonly ours: Operation;
  readonly ceilings: readonly { readonly name: string; readonly operation: Operation }[];
}
