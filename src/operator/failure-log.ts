import type { Logger } from '../platform/logger.ts';
import { reactorKey } from './listed-reactors.ts';
import type { RuntimeState } from './runtimes/types.ts';
import type { Timers } from './timers.ts';

/** The same is not said again within this time, however often a reactor fails and recovers. */
const SAY_AGAIN_MS = 600_000;

/**
 * Says in the log what keeps reactors from answering. Of one that was made through the API nothing else says it: it has
 * no resource, and so no status and no events.
 */
export class FailureLog {
  readonly #logger: Logger;
  readonly #clock: Pick<Timers, 'now'>;
  readonly #said = new Map<string, { failure: string; at: number }>();

  constructor(logger: Logger, clock: Pick<Timers, 'now'>) {
    this.#logger = logger;
    this.#clock = clock;
  }

  tell({ tenantId, reactorId, failure, failureReason }: RuntimeState): void {
    if (failure === undefined) return;
    const key = reactorKey({ tenantId, reactorId });
    const said = this.#said.get(key);
    const now = this.#clock.now();
    if (said?.failure === failure && now - said.at < SAY_AGAIN_MS) return;
    this.#said.set(key, { failure, at: now });
    const reason = failureReason ?? 'InstancesFailing';
    this.#logger.warn({ tenantId, reactorId, reason, detail: failure }, 'Instances of a reactor fail');
  }

  forget(key: string): void {
    this.#said.delete(key);
  }
}
