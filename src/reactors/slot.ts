import { DEFAULT_SCALING } from '../domain/declarations.ts';
import type { ReactorInstance } from '../domain/declarations.ts';
import type { Invocation } from './types.ts';

/** An instance, and what is known of it. */
export interface Slot {
  instance: ReactorInstance;
  inFlight: number;
  /** As the instance says in its answers; until it has, what is declared for the reactor. */
  concurrency: number | undefined;
  /** Refusals in a row; while it rests after one, nothing is sent to it. */
  refusals: number;
  resting: boolean;
}

/** Whether it may be sent one more. */
export function isFree({ resting, inFlight, concurrency }: Slot, { scaling = DEFAULT_SCALING }: Invocation): boolean {
  return !resting && inFlight < (concurrency ?? scaling.concurrency);
}

/**
 * Whether it is the very instance. In a cluster, the address of one that is gone may be another's soon, of another
 * revision.
 */
export function isSame(one: ReactorInstance, other: ReactorInstance): boolean {
  const names = ['address', 'credential', 'revision', 'serverName'] as const;
  return names.every((name) => one[name] === other[name]);
}
