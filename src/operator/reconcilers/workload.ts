import type { ReactorIds, ReactorScaling, ReactorWorkload, ScalingEngine } from '../../domain/declarations.ts';
import type { StopReason } from '../../domain/reactor-supervision.ts';
import { describeStops } from '../../domain/stop-window.ts';
import type { Logger } from '../../platform/logger.ts';
import { ApiReplicas } from '../api-replicas.ts';
import type { ReplicaDirectory } from '../api-replicas.ts';
import { FailureLog } from '../failure-log.ts';
import type { InternalClient } from '../internal-client.ts';
import type { InternalApiAccess } from '../internal-connection.ts';
import { ListedReactors, reactorKey } from '../listed-reactors.ts';
import { createWorkQueue } from '../queue.ts';
import type { WorkQueue, WorkResult } from '../queue.ts';
import type { ReactorRuntime, RuntimeState } from '../runtimes/types.ts';
import { decideReplicas, startScaling } from '../scaling.ts';
import type { ScalingState } from '../scaling.ts';
import type { Timers } from '../timers.ts';

export interface WorkloadOptions {
  api: InternalClient;
  /** How `api` is reached. */
  access: InternalApiAccess;
  /** Where the replicas of the API are; absent: what `access` names is the only one. */
  directory?: ReplicaDirectory | undefined;
  runtime: ReactorRuntime;
  clock: Timers;
  logger: Logger;
  /** Told when the instances of a reactor, or what keeps them from running, changed. */
  stateChanged: (tenantId: string, reactorId: string) => void;
}

/** What runs of a reactor, and who decides how much. */
export interface WorkloadState extends RuntimeState {
  engine: ScalingEngine;
}

const DEMAND_INTERVAL_MS = 1_000;
const LONGEST_BACKOFF_MS = 5_000;

const SCALE = 'scale';
const DAMAGED =
  'What the API stores of this reactor cannot be opened, and it cannot be called. Check whether the API has the database ' +
  'and the keys that it is to have; if it has, restore the reactor from a backup, or put its code anew. What runs is ' +
  'left as it is';

/** A reactor of the API, and what is run of it. */
interface FollowedReactor {
  workload: ReactorWorkload;
  scaling: ScalingState;
  /** Why its code is stopped again and again, as the API has it. */
  failure?: StopReason | undefined;
  /** What the runtime was last asked for. */
  applied?: { workload: string; replicas: number | undefined };
}

/**
 * Runs the reactors that the API holds, however they came there, at the scale that their demand asks for, and tells
 * every replica of the API where their instances listen. Without an answer about demand nothing is scaled.
 */
export class WorkloadReconciler {
  readonly #options: WorkloadOptions;
  readonly #queue: WorkQueue;
  readonly #replicas: ApiReplicas;
  /** By `reactorKey`, as are the states. */
  readonly #reactors = new Map<string, FollowedReactor>();
  readonly #states = new Map<string, RuntimeState>();
  readonly #listed: ListedReactors;
  readonly #failures: FailureLog;
  /** Of these, the API's list does not say enough: they are neither scaled nor changed. */
  #heldBack: ReadonlySet<string> = new Set();
  #isKnown = false;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    const { api, access, directory, runtime, clock, logger } = options;
    this.#listed = new ListedReactors({ api, clock, logger });
    this.#failures = new FailureLog(logger, clock);
    this.#queue = createWorkQueue({ work: () => this.#work(), clock, longestBackoffMs: LONGEST_BACKOFF_MS });
    this.#replicas = new ApiReplicas({
      ...{ api, access, directory, clock, logger },
      announced: {
        reactors: () => this.#states.keys(),
        instancesOf: (tenantId, reactorId) => this.#states.get(reactorKey({ tenantId, reactorId }))?.ready ?? [],
        checker: () => runtime.checker(),
      },
      demandRose: () => this.demandRose(),
    });
  }

  start(): void {
    if (this.#options.runtime.nowhere !== undefined) this.hold();
    this.#options.runtime.onChange((state) => this.#takeState(state));
    this.#replicas.start();
    // What runs is not to be taken for nothing: it would be scaled down.
    void Promise.resolve(this.#options.runtime.known).then(() => this.#begin());
  }

  #begin(): void {
    this.#isKnown = true;
    this.#queue.add(SCALE);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#queue.stop(), this.#replicas.stop()]);
  }

  /** Takes no more steps, as a queue does. */
  hold(): void {
    this.#queue.hold();
    this.#replicas.hold();
  }

  release(): void {
    if (this.#options.runtime.nowhere !== undefined) return;
    this.#queue.release();
    this.#replicas.release();
  }

  stateOf(tenantId: string, reactorId: string): WorkloadState | undefined {
    const key = reactorKey({ tenantId, reactorId });
    const none = { tenantId, reactorId, revision: '', ready: [], desired: 0 };
    const state = this.#states.get(key) ?? (this.#listed.isDamaged(key) ? none : undefined);
    return state && this.#toldState(state);
  }

  /** What runs of each reactor. */
  states(): WorkloadState[] {
    return [...this.#states.values()].map((state) => this.#toldState(state));
  }

  /** Looks at the demand now rather than with the next beat. */
  demandRose(): void {
    this.#queue.add(SCALE);
  }

  /** Looks at the API's list now rather than at the next full pass. */
  reactorChanged(reactor: ReactorIds): void {
    this.#listed.lookAgain(reactor);
    this.#queue.add(SCALE);
  }

  /** Tells the API everything again: it may have restarted, or missed something. */
  resync(): void {
    this.#replicas.announceAll();
    this.#listed.lookAgain();
    this.#queue.add(SCALE);
  }

  async #work(): Promise<WorkResult> {
    try {
      await this.#scale();
      return { requeueAfterMs: DEMAND_INTERVAL_MS };
    } catch (error) {
      this.#options.logger.debug({ error }, 'Could not take a step of running reactors');
      return { failed: true };
    }
  }

  async #scale(): Promise<void> {
    if (!this.#isKnown) return;
    const { clock } = this.#options;
    if (this.#listed.isDue) await this.#follow();
    if (this.#reactors.size === 0) return;
    const demandOf = await this.#replicas.demand();
    const scaled = [...this.#reactors].filter(([key]) => !this.#heldBack.has(key)).map(([, reactor]) => reactor);
    for (const reactor of scaled) {
      const { tenantId, reactorId, scaling } = reactor.workload;
      const demand = demandOf?.(tenantId, reactorId);
      reactor.scaling = decideReplicas(scaling, reactor.scaling, demand, clock.now());
      // Of what nobody tells, the last word stands.
      if (demand !== undefined) this.#takeFailure(reactor, demand.failure);
    }
    await Promise.all(scaled.map((reactor) => this.#tryToApply(reactor)));
  }

  async #follow(): Promise<void> {
    const { clock, runtime } = this.#options;
    const wasHeldBack = this.#heldBack;
    const runningKeys = () => [...this.#reactors.keys(), ...runtime.list().map(reactorKey)];
    const { workloads, heldBack, gone, turned } = await this.#listed.look(runningKeys);
    const running = new Map(runtime.list().map((state) => [reactorKey(state), state]));
    for (const workload of workloads) {
      const key = reactorKey(workload);
      const known = wasHeldBack.has(key) ? undefined : this.#reactors.get(key);
      const replicas = running.get(key)?.desired ?? workload.scaling.minReplicas;
      this.#reactors.set(key, { scaling: startScaling(replicas, clock.now()), ...known, workload });
    }
    this.#heldBack = heldBack;
    for (const key of gone) {
      // Forgotten before it is removed: the state that removing it leads to is its last one.
      this.#reactors.delete(key);
      const state = running.get(key);
      if (state !== undefined) this.#remove(state);
    }
    for (const { tenantId, reactorId } of turned) this.#tellState(tenantId, reactorId);
  }

  /** Does not wait: draining takes as long as what runs, and the other reactors are to be scaled meanwhile. */
  #remove({ tenantId, reactorId }: RuntimeState): void {
    this.#options.runtime.remove(tenantId, reactorId).catch((error: unknown) => {
      this.#options.logger.warn({ error, tenantId, reactorId }, 'Could not remove the instances of a deleted reactor');
    });
  }

  /** One that cannot be applied is tried again with the next beat, and holds up no other one. */
  async #tryToApply(reactor: FollowedReactor): Promise<void> {
    const { tenantId, reactorId } = reactor.workload;
    await this.#apply(reactor).catch((error: unknown) => {
      this.#options.logger.debug({ error, tenantId, reactorId }, 'Could not bring a reactor to its scale');
    });
  }

  async #apply(reactor: FollowedReactor): Promise<void> {
    const { workload, scaling, applied } = reactor;
    const isOurs = this.#engineOf(workload.scaling) === 'Builtin';
    const replicas = isOurs ? scaling.replicas : undefined;
    const rendered = workload.revision + JSON.stringify(workload.scaling);
    if (applied?.workload === rendered && applied.replicas === replicas) return;
    if (applied?.replicas !== undefined && replicas !== undefined && applied.replicas !== replicas) {
      const { tenantId, reactorId } = workload;
      this.#options.logger.info({ tenantId, reactorId, from: applied.replicas, to: replicas }, 'Scaled a reactor');
    }
    await this.#options.runtime.apply(workload, replicas);
    reactor.applied = { workload: rendered, replicas };
  }

  #takeState(state: RuntimeState): void {
    const key = reactorKey(state);
    const before = this.#states.get(key);
    const reactor = this.#reactors.get(key);
    const isGone = state.desired === 0 && state.ready.length === 0 && reactor === undefined;
    if (isGone) {
      this.#states.delete(key);
      this.#failures.forget(key);
    } else this.#states.set(key, state);
    // Should the decision come back here, it begins with what others made of it.
    if (reactor !== undefined && this.#engineOf(reactor.workload.scaling) !== 'Builtin') {
      reactor.scaling = startScaling(state.desired, this.#options.clock.now());
    }
    this.#replicas.announceInstances(key);
    const isSame =
      before?.ready.length === state.ready.length &&
      before.desired === state.desired &&
      before.failure === state.failure &&
      before.failureReason === state.failureReason;
    if (!isSame) this.#tellState(state.tenantId, state.reactorId);
  }

  #tellState(tenantId: string, reactorId: string): void {
    const state = this.stateOf(tenantId, reactorId);
    if (state !== undefined) this.#failures.tell(state);
    this.#options.stateChanged(tenantId, reactorId);
  }

  #takeFailure(reactor: FollowedReactor, failure: StopReason | undefined): void {
    if (reactor.failure === failure) return;
    reactor.failure = failure;
    this.#tellState(reactor.workload.tenantId, reactor.workload.reactorId);
  }

  #toldState(state: RuntimeState): WorkloadState {
    const key = reactorKey(state);
    const reactor = this.#reactors.get(key);
    const engine = reactor === undefined ? 'Builtin' : this.#engineOf(reactor.workload.scaling);
    if (this.#listed.isDamaged(key)) return { ...state, engine, failure: DAMAGED, failureReason: 'Damaged' };
    if (state.failure !== undefined || reactor?.failure === undefined) return { ...state, engine };
    return { ...state, engine, failure: describeStops(reactor.failure), failureReason: 'Degraded' };
  }

  /** Where a runtime knows no other engine, ours does the work of any. */
  #engineOf({ engine = 'Builtin' }: ReactorScaling): ScalingEngine {
    return this.#options.runtime.engines?.includes(engine) ? engine : 'Builtin';
  }
}
