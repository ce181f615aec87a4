import type { ReactorDemand, ReactorInstance, ReactorWorkload } from '../../domain/declarations.ts';
import type { Timers } from '../timers.ts';
import { InternalApiError } from '../internal-client.ts';
import type { InternalClient } from '../internal-client.ts';
import { createWorkQueue } from '../queue.ts';
import type { WorkQueue, WorkResult } from '../queue.ts';
import type { ReactorRuntime, RuntimeState } from '../runtimes/types.ts';
import { desiredReplicas } from '../scaling.ts';
import type { DemandHistory } from '../scaling.ts';
import type { Logger } from '../../platform/logger.ts';

export interface WorkloadOptions {
  api: InternalClient;
  runtime: ReactorRuntime;
  clock: Timers;
  logger: Logger;
  /** Told when the instances of a reactor, or what keeps them from running, changed. */
  stateChanged: (tenantId: string, reactorId: string) => void;
}

const DEMAND_INTERVAL_MS = 1_000;
const FULL_PASS_INTERVAL_MS = 30_000;
const LONGEST_BACKOFF_MS = 5_000;

const SCALE = 'scale';
const CHECKER = 'checker';
const INSTANCES = 'instances/';

/** A reactor of the API, and what is run of it. */
interface FollowedReactor extends DemandHistory {
  workload: ReactorWorkload;
  /** What the runtime was last asked for. */
  applied?: { workload: string; replicas: number };
}

/**
 * Runs the reactors that the API holds, however they came there, at the scale that their demand asks for, and tells the
 * API where their instances listen. Without an answer about demand nothing is scaled.
 */
export class WorkloadReconciler {
  readonly #options: WorkloadOptions;
  readonly #queue: WorkQueue;
  /** By `reactorKey`, as are the states. */
  readonly #reactors = new Map<string, FollowedReactor>();
  readonly #states = new Map<string, RuntimeState>();
  #lastPassAt = -Infinity;
  #announcedChecker: string | undefined;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    const work = (key: string) => this.#work(key);
    this.#queue = createWorkQueue({ work, clock: options.clock, longestBackoffMs: LONGEST_BACKOFF_MS });
  }

  start(): void {
    this.#options.runtime.onChange((state) => this.#takeState(state));
    this.#queue.add(SCALE);
    this.#queue.add(CHECKER);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  stateOf(tenantId: string, reactorId: string): RuntimeState | undefined {
    return this.#states.get(reactorKey({ tenantId, reactorId }));
  }

  /** Looks at the API's list now rather than at the next full pass. */
  reactorsChanged(): void {
    this.#lastPassAt = -Infinity;
    this.#queue.add(SCALE);
  }

  /** Tells the API everything again: it may have restarted, or missed something. */
  resync(): void {
    this.#announcedChecker = undefined;
    this.#queue.add(CHECKER);
    for (const key of this.#states.keys()) this.#queue.add(INSTANCES + key);
    this.reactorsChanged();
  }

  async #work(key: string): Promise<WorkResult> {
    try {
      if (key === SCALE) return await this.#scale();
      if (key === CHECKER) return await this.#announceChecker();
      return await this.#announceInstances(key.slice(INSTANCES.length));
    } catch (error) {
      this.#options.logger.debug({ error, step: key }, 'Could not take a step of running reactors');
      return { failed: true };
    }
  }

  async #scale(): Promise<WorkResult> {
    const { api, clock } = this.#options;
    if (clock.now() - this.#lastPassAt >= FULL_PASS_INTERVAL_MS) {
      const startedAt = clock.now();
      this.#follow(await api.listReactors());
      this.#lastPassAt = startedAt;
    }
    if (this.#reactors.size > 0) {
      this.#takeDemand(await api.listDemand());
      for (const reactor of this.#reactors.values()) await this.#apply(reactor);
    }
    return { requeueAfterMs: DEMAND_INTERVAL_MS };
  }

  #follow(workloads: ReactorWorkload[]): void {
    const { clock, runtime } = this.#options;
    const present = new Set(workloads.map(reactorKey));
    for (const workload of workloads) {
      const known = this.#reactors.get(reactorKey(workload));
      const history = { demand: 0, lastDemandAt: clock.now(), replicas: workload.scaling.minReplicas };
      this.#reactors.set(reactorKey(workload), { ...history, ...known, workload });
    }
    // Forgotten before it is removed: the state that removing it leads to is its last one.
    for (const key of this.#reactors.keys()) if (!present.has(key)) this.#reactors.delete(key);
    for (const state of runtime.list()) if (!present.has(reactorKey(state))) this.#remove(state);
  }

  /** Does not wait: draining takes as long as what runs, and the other reactors are to be scaled meanwhile. */
  #remove({ tenantId, reactorId }: RuntimeState): void {
    this.#options.runtime.remove(tenantId, reactorId).catch((error: unknown) => {
      this.#options.logger.warn({ error, tenantId, reactorId }, 'Could not remove the instances of a deleted reactor');
    });
  }

  #takeDemand(demands: ReactorDemand[]): void {
    const now = this.#options.clock.now();
    const totals = new Map<string, number>();
    for (const demand of demands) {
      const key = reactorKey(demand);
      totals.set(key, (totals.get(key) ?? 0) + demand.inFlight + demand.waiting);
    }
    for (const [key, reactor] of this.#reactors) {
      reactor.demand = totals.get(key) ?? 0;
      if (reactor.demand > 0) reactor.lastDemandAt = now;
      reactor.replicas = desiredReplicas(reactor.workload.scaling, reactor, now);
    }
  }

  async #apply(reactor: FollowedReactor): Promise<void> {
    const { workload, replicas, applied } = reactor;
    const rendered = workload.revision + JSON.stringify(workload.scaling);
    if (applied?.workload === rendered && applied.replicas === replicas) return;
    if (applied !== undefined && applied.replicas !== replicas) {
      const fields = {
        tenantId: workload.tenantId,
        reactorId: workload.reactorId,
        from: applied.replicas,
        to: replicas,
      };
      this.#options.logger.info(fields, 'Scaled a reactor');
    }
    await this.#options.runtime.apply(workload, replicas);
    reactor.applied = { workload: rendered, replicas };
  }

  #takeState(state: RuntimeState): void {
    const key = reactorKey(state);
    const before = this.#states.get(key);
    const isGone = state.desired === 0 && state.ready.length === 0 && !this.#reactors.has(key);
    if (isGone) this.#states.delete(key);
    else this.#states.set(key, state);
    this.#queue.add(INSTANCES + key);
    const isSame = before?.ready.length === state.ready.length && before.failure === state.failure;
    if (!isSame) this.#options.stateChanged(state.tenantId, state.reactorId);
  }

  async #announceInstances(key: string): Promise<WorkResult> {
    const [tenantId = '', reactorId = ''] = key.split('/');
    const instances: ReactorInstance[] = this.#states.get(key)?.ready ?? [];
    await this.#options.api.putInstances(tenantId, reactorId, instances).catch((error: unknown) => {
      // The reactor is gone from the API already.
      if (!(error instanceof InternalApiError && error.status === 404)) throw error;
    });
    return {};
  }

  async #announceChecker(): Promise<WorkResult> {
    const checker = await this.#options.runtime.checker();
    if (this.#announcedChecker !== checker.address) {
      await this.#options.api.putChecker(checker);
      this.#announcedChecker = checker.address;
    }
    return { requeueAfterMs: DEMAND_INTERVAL_MS };
  }
}

/** The id alone is no key: two tenants may have a reactor under the same one. */
function reactorKey({ tenantId, reactorId }: { tenantId: string; reactorId: string }): string {
  return `${tenantId}/${reactorId}`;
}
