import type { ReactorInstance } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import type { DemandReport } from './demand-totals.ts';
import { InternalApiError } from './internal-client.ts';
import type { InternalClient } from './internal-client.ts';
import { createWorkQueue } from './queue.ts';
import type { WorkQueue, WorkResult } from './queue.ts';
import type { Timers } from './timers.ts';

/** What every replica of the API is told. */
export interface Announced {
  /** `tenantId/reactorId` of every reactor of which something is known. */
  reactors(): Iterable<string>;
  /** The instances that answer. */
  instancesOf(tenantId: string, reactorId: string): ReactorInstance[];
  /** Starts one where there is none. */
  checker(): Promise<ReactorInstance>;
}

export interface ApiReplicaOptions {
  client: Pick<InternalClient, 'listDemand' | 'putInstances' | 'putChecker'>;
  announced: Announced;
  clock: Timers;
  logger: Logger;
}

const CHECKER_INTERVAL_MS = 1_000;
const LONGEST_BACKOFF_MS = 5_000;
const CHECKER = 'checker';
const INSTANCES = 'instances/';

/** One replica of the API, told where instances are. What keeps it from being told holds up no other one. */
export class ApiReplica {
  readonly #options: ApiReplicaOptions;
  readonly #queue: WorkQueue;
  #announcedChecker: string | undefined;
  #report: DemandReport | undefined;

  constructor(options: ApiReplicaOptions) {
    this.#options = options;
    const work = (key: string) => this.#work(key);
    this.#queue = createWorkQueue({ work, clock: options.clock, longestBackoffMs: LONGEST_BACKOFF_MS });
  }

  /** What it last told of demand. */
  get report(): DemandReport | undefined {
    return this.#report;
  }

  /** Asks for the demand; what it told before stays where it does not answer. */
  async askDemand(): Promise<void> {
    const { client, clock, logger } = this.#options;
    try {
      const at = clock.now();
      this.#report = { demands: await client.listDemand(), at };
    } catch (error) {
      logger.debug({ error }, 'A replica of the API does not tell of demand');
    }
  }

  announceInstances(reactorKey: string): void {
    this.#queue.add(INSTANCES + reactorKey);
  }

  /** It may know nothing of what it was told before. */
  announceAll(): void {
    this.#announcedChecker = undefined;
    this.#queue.add(CHECKER);
    for (const key of this.#options.announced.reactors()) this.announceInstances(key);
  }

  hold(): void {
    this.#queue.hold();
  }

  release(): void {
    this.#queue.release();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #work(key: string): Promise<WorkResult> {
    try {
      return key === CHECKER ? await this.#putChecker() : await this.#putInstances(key.slice(INSTANCES.length));
    } catch (error) {
      this.#options.logger.debug({ error, step: key }, 'Could not tell a replica of the API where instances are');
      return { failed: true };
    }
  }

  async #putInstances(key: string): Promise<WorkResult> {
    const { client, announced } = this.#options;
    const [tenantId = '', reactorId = ''] = key.split('/');
    await client
      .putInstances(tenantId, reactorId, announced.instancesOf(tenantId, reactorId))
      .catch((error: unknown) => {
        // The reactor is gone from the API already.
        if (!(error instanceof InternalApiError && error.status === 404)) throw error;
      });
    return {};
  }

  async #putChecker(): Promise<WorkResult> {
    const checker = await this.#options.announced.checker();
    if (this.#announcedChecker !== checker.address) {
      await this.#options.client.putChecker(checker);
      this.#announcedChecker = checker.address;
    }
    return { requeueAfterMs: CHECKER_INTERVAL_MS };
  }
}
