import type { ReactorIds, ReactorWorkload } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import type { InternalClient } from './internal-client.ts';
import { createOrphanWatch } from './orphan-watch.ts';
import type { OrphanWatch } from './orphan-watch.ts';
import type { Timers } from './timers.ts';

const INTERVAL_MS = 30_000;

/** What a look at the API's list has found. Keys are those of `reactorKey`. */
export interface Found {
  workloads: ReactorWorkload[];
  /** They run, and may or may not be gone, or cannot be opened: not to be touched. */
  heldBack: ReadonlySet<string>;
  gone: ReadonlySet<string>;
  /** Those that are damaged now and were not, or the other way round. */
  turned: ReactorIds[];
}

/** Looks at the API's list of reactors now and then, and whenever it is told of a change. */
export class ListedReactors {
  readonly #api: Pick<InternalClient, 'listReactors'>;
  readonly #clock: Timers;
  readonly #orphans: OrphanWatch;
  #lookedAt = -Infinity;
  /** Those that the API told of since the last look. */
  #told = new Set<string>();
  #damaged = new Map<string, ReactorIds>();

  constructor({ api, clock, logger }: { api: Pick<InternalClient, 'listReactors'>; clock: Timers; logger: Logger }) {
    this.#api = api;
    this.#clock = clock;
    this.#orphans = createOrphanWatch(clock, logger);
  }

  get isDue(): boolean {
    return this.#clock.now() - this.#lookedAt >= INTERVAL_MS;
  }

  /** The next look is due; `changed` was made, changed or deleted. */
  lookAgain(changed?: ReactorIds): void {
    if (changed !== undefined) this.#told.add(reactorKey(changed));
    this.#lookedAt = -Infinity;
  }

  isDamaged(key: string): boolean {
    return this.#damaged.has(key);
  }

  /** Rejects where the API does not answer: then the next look is due. */
  async look(runningKeys: () => Iterable<string>): Promise<Found> {
    const told = this.#told;
    this.#told = new Set();
    // Before the answer: a change that is told meanwhile asks for another look.
    this.#lookedAt = this.#clock.now();
    try {
      const { data, damaged } = await this.#api.listReactors();
      const turned = this.#takeDamaged(damaged);
      const whole = new Set(data.map(reactorKey));
      const heldBack = new Set([...runningKeys()].filter((key) => !whole.has(key)));
      const missing = [...heldBack].filter((key) => !this.#damaged.has(key));
      const gone = this.#orphans.judge({ missing, isListEmpty: data.length + damaged.length === 0, told });
      for (const key of gone) heldBack.delete(key);
      return { workloads: data, heldBack, gone, turned };
    } catch (error) {
      for (const key of told) this.#told.add(key);
      this.#lookedAt = -Infinity;
      throw error;
    }
  }

  #takeDamaged(damaged: readonly ReactorIds[]): ReactorIds[] {
    const before = this.#damaged;
    this.#damaged = new Map(damaged.map((reactor) => [reactorKey(reactor), reactor]));
    return [...new Map([...before, ...this.#damaged])]
      .filter(([key]) => before.has(key) !== this.#damaged.has(key))
      .map(([, reactor]) => reactor);
  }
}

/** The id alone is no key: two tenants may have a reactor under the same one. */
export function reactorKey({ tenantId, reactorId }: ReactorIds): string {
  return `${tenantId}/${reactorId}`;
}
