import type { Json } from '../../../../src/domain/json.ts';
import type { InvocationOutcome } from '../../../../src/reactors/types.ts';

export type OutcomeKind = InvocationOutcome['kind'];

/** Code that means harm, as the body of an async function of `req` and `require`, and what may become of it. */
export interface HostileReactor {
  name: string;
  body: string;
  /** Every outcome that is a containment. More than one where V8, the clock and the memory race each other. */
  kinds: readonly OutcomeKind[];
  /** What it may get to see at most, where it returns anything. */
  raw?: Json;
  /** It is given `svc`, at an API that never answers. */
  svc?: true;
}

/** Bounded by CPU or wall time alone. */
export const STOPPED: readonly OutcomeKind[] = ['timed-out'];

/** Memory ran out in one of the ways that it can, or time before it did, or V8 refused so large a thing by itself. */
export const EXHAUSTED: readonly OutcomeKind[] = ['out-of-memory', 'crashed', 'timed-out', 'threw'];
