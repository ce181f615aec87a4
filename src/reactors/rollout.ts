import type { ReactorInstance } from '../domain/declarations.ts';
import type { Revised } from './types.ts';

/** Instances, each in what else is known of it. */
type Slots = readonly { readonly instance: Pick<ReactorInstance, 'revision'> }[];

/**
 * Which instances may run an invocation while a reactor's code or configuration changes.
 *
 * As with the rolling update of a Deployment, those of before go on until there are as many of the new revision as
 * there were of them: a change costs no capacity, and no call. New ones are preferred from the first on. Nothing of
 * before runs for longer than a while after the change, however the start of the new ones goes: what the API holds is
 * what is to run, and a secret that was taken out of a configuration must not live on in it.
 */
export class Rollout {
  readonly #overlapMs: number;
  #revision: string | undefined;
  #revisedAt = -Infinity;
  /** As `performance.now` tells time. */
  #until = -Infinity;
  /** Instances that were there when the change was heard of, of whatever revision. */
  #before = 0;

  /** @param overlapMs longest time after a change for which instances of before may be used. */
  constructor(overlapMs: number) {
    this.#overlapMs = overlapMs;
  }

  /** Hears of a revision, and of when its reactor was changed last. One that tells no time is the newest to nobody. */
  hear({ revision, revisedAt }: Revised, slots: Slots): void {
    if (revisedAt === undefined || revisedAt < this.#revisedAt) return;
    this.#revisedAt = revisedAt;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#before = slots.filter(({ instance }) => instance.revision !== revision).length;
    // The time of the change is another machine's.
    const ageMs = Math.max(Date.now() - revisedAt, 0);
    this.#until = performance.now() + this.#overlapMs - ageMs;
  }

  /** Whether this is the revision to be run, as far as is known. */
  isNewest(revision: string): boolean {
    return revision === this.#revision;
  }

  /** Whether an instance may run an invocation; `slots` are all that are there. */
  mayRun({ instance }: Slots[number], { revision }: Revised, slots: Slots): boolean {
    if (instance.revision === revision) return true;
    // An invocation that was made before a change may come to run after it: its own instances are going.
    if (this.isNewest(instance.revision)) return true;
    return this.isNewest(revision) && this.#isUnderWay(slots);
  }

  #isUnderWay(slots: Slots): boolean {
    if (performance.now() >= this.#until) return false;
    return slots.filter(({ instance }) => this.isNewest(instance.revision)).length < this.#before;
  }
}
