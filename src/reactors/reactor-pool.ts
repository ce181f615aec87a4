import { DEFAULT_SCALING } from '../domain/declarations.ts';
import type { DemandAverage, ReactorInstance } from '../domain/declarations.ts';
import type { StopReason } from '../domain/reactor-supervision.ts';
import { StopWindow } from '../domain/stop-window.ts';
import { ConcurrencyWindow } from './concurrency-window.ts';
import type { HeldBytes } from './held-bytes.ts';
import { Rollout } from './rollout.ts';
import { isFree, isSame, type Slot } from './slot.ts';
import type { Attempt, Transport } from './transport.ts';
import type { FailureKind, Invocation, InvocationOutcome, Revised } from './types.ts';

interface Waiting {
  invocation: Invocation;
  settle: (outcome: InvocationOutcome) => void;
  since: number;
  deadline: number;
  timer: NodeJS.Timeout | undefined;
  /** No instance that may run it was there when it came. */
  isCold: boolean;
}

/** Why an invocation was refused before any code ran. */
export type RejectionReason = 'queue-full' | 'no-instance-in-time' | 'stopping';

/** Told of what callers notice of scaling. */
export interface PoolObserver {
  /** An invocation that came when there was no instance has one now. */
  coldStarted(waitedMs: number): void;
  rejected(reason: RejectionReason): void;
}

export interface PoolOptions {
  transport: Transport;
  /** Longest wait for a free instance, in ms; less where the invocation is to be answered sooner. */
  maxWaitMs: number;
  /** Longest time after a change for which instances of before may be used, in ms. */
  overlapMs: number;
  /** Shared with the pools of other reactors. */
  held: HeldBytes;
  observer?: PoolObserver | undefined;
  /** An invocation has to wait. Called at once, and not again for a while. */
  onWaiting?: (() => void) | undefined;
}

/** Invocations that may wait, for each that could run with all the replicas that there may be; as Knative has it. */
const QUEUE_DEPTH = 10;
const MIN_REST_MS = 20;
const MAX_REST_MS = 320;
/** Between two notices that something waits. */
const NOTICE_EVERY_MS = 1_000;
/** After the first notice of a burst, another one tells how large it has become. */
const NOTICE_AGAIN_MS = 100;

const STOPS: Partial<Record<FailureKind, StopReason>> = {
  'timed-out': 'timed-out',
  'out-of-memory': 'out-of-memory',
  crashed: 'crashed',
};

/** The ready instances of one reactor and the invocations held for them, first come, first served. */
export class ReactorPool {
  readonly #options: PoolOptions;
  readonly #window = new ConcurrencyWindow();
  readonly #stops = new StopWindow();
  readonly #rollout: Rollout;
  /** Called with each change of what is there, and at the end. */
  readonly #watchers = new Set<() => void>();
  #slots: Slot[] = [];
  /** In the order in which they came; those that an instance refused have their turn before the others. */
  readonly #returned = new Set<Waiting>();
  readonly #waiting = new Set<Waiting>();
  #inFlight = 0;
  #noticedAt = -Infinity;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#rollout = new Rollout(options.overlapMs);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#returned.size + this.#waiting.size;
  }

  /** Running and held together, averaged over time. */
  average(): DemandAverage {
    return this.#window.average(performance.now());
  }

  /** Why the code had to be stopped, where that was many times a minute. */
  get failure(): StopReason | undefined {
    return this.#stops.reason(performance.now());
  }

  /** Whether nothing is there, runs, waits or is to be remembered. */
  get isEmpty(): boolean {
    if (this.#slots.length > 0 || this.#inFlight > 0 || this.waiting > 0) return false;
    return this.average().stable === 0 && this.#stops.isEmpty(performance.now());
  }

  /** Instances that stay keep what is known of them. */
  replace(instances: ReactorInstance[]): void {
    this.#slots = instances.map(
      (instance) =>
        this.#slots.find(({ instance: known }) => isSame(known, instance)) ?? {
          instance,
          inFlight: 0,
          concurrency: undefined,
          refusals: 0,
          resting: false,
        },
    );
    this.#tellWatchers();
    this.#dispatch();
  }

  /**
   * Resolves once invocations run with this revision: an instance of it is there, or none of another. At the latest
   * after `maxMs`, when `signal` is aborted, and when the pool is closed.
   */
  async rolledOut(revised: Revised, maxMs: number, signal?: AbortSignal): Promise<void> {
    this.#rollout.hear(revised, this.#slots);
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      const there = this.#slots;
      const isOurs = there.length === 0 || there.some(({ instance }) => instance.revision === revised.revision);
      if (this.#closed || isOurs) resolve();
    };
    const end = AbortSignal.any([AbortSignal.timeout(maxMs), ...(signal ? [signal] : [])]);
    if (end.aborted) return;
    end.addEventListener('abort', () => resolve());
    this.#watchers.add(look);
    look();
    await promise;
    this.#watchers.delete(look);
  }

  invoke(invocation: Invocation): Promise<InvocationOutcome> {
    const { promise, resolve } = Promise.withResolvers<InvocationOutcome>();
    const since = performance.now();
    const deadline = Math.min(since + this.#options.maxWaitMs, invocation.answerBy ?? Infinity);
    this.#rollout.hear(invocation, this.#slots);
    const isCold = !this.#slots.some((slot) => this.#mayRun(slot, invocation));
    const waiting: Waiting = { invocation, settle: resolve, since, deadline, timer: undefined, isCold };
    this.#hold(waiting, this.#waiting);
    this.#dispatch();
    if (this.#waiting.has(waiting)) {
      const { concurrency, maxReplicas } = invocation.scaling ?? DEFAULT_SCALING;
      const isFull = this.waiting > QUEUE_DEPTH * concurrency * maxReplicas || this.#options.held.isOver;
      if (isFull) this.#giveUp(waiting, 'queue-full');
      else this.#notice();
    }
    return promise;
  }

  /** Fails what waits and what would have to wait from now on. */
  close(): void {
    this.#closed = true;
    this.#tellWatchers();
    for (const waiting of [...this.#returned, ...this.#waiting]) this.#giveUp(waiting, 'stopping');
  }

  #hold(waiting: Waiting, line: Set<Waiting>): void {
    waiting.timer = setTimeout(
      () => this.#giveUp(waiting, 'no-instance-in-time'),
      Math.max(waiting.deadline - performance.now(), 0),
    );
    line.add(waiting);
    this.#options.held.add(waiting.invocation.argsBytes);
    this.#measure();
    if (this.#closed) this.#giveUp(waiting, 'stopping');
  }

  #release(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    this.#options.held.remove(waiting.invocation.argsBytes);
    this.#returned.delete(waiting);
    this.#waiting.delete(waiting);
  }

  #giveUp(waiting: Waiting, reason: RejectionReason): void {
    this.#release(waiting);
    this.#measure();
    this.#options.observer?.rejected(reason);
    waiting.settle({ kind: 'unavailable' });
  }

  #dispatch(): void {
    for (const line of [this.#returned, this.#waiting]) {
      for (const waiting of line) {
        if (!this.#slots.some((slot) => isFree(slot, waiting.invocation))) return;
        const slot = this.#freeSlot(waiting.invocation);
        if (!slot) continue;
        this.#release(waiting);
        void this.#run(slot, waiting);
      }
    }
  }

  /** The least loaded of the newest revision; else of those that may run it. */
  #freeSlot(invocation: Invocation): Slot | undefined {
    const free = this.#slots.filter((slot) => isFree(slot, invocation) && this.#mayRun(slot, invocation));
    const newest = free.filter(({ instance }) => this.#rollout.isNewest(instance.revision));
    return (newest.length > 0 ? newest : free).reduce<Slot | undefined>(
      (best, slot) => (best && best.inFlight <= slot.inFlight ? best : slot),
      undefined,
    );
  }

  #mayRun(slot: Slot, invocation: Invocation): boolean {
    return this.#rollout.mayRun(slot, invocation, this.#slots);
  }

  #tellWatchers(): void {
    for (const look of this.#watchers) look();
  }

  async #run(slot: Slot, waiting: Waiting): Promise<void> {
    slot.inFlight += 1;
    this.#inFlight += 1;
    this.#measure();
    const sentAt = performance.now();
    const attempt = await this.#attempt(slot, waiting.invocation);
    slot.inFlight -= 1;
    this.#inFlight -= 1;
    if (attempt.refused) {
      this.#rest(slot);
      this.#hold(waiting, this.#returned);
    } else {
      slot.refusals = 0;
      if (waiting.isCold) this.#options.observer?.coldStarted(sentAt - waiting.since);
      // Of one that was broken off from here, it is not known.
      if (!waiting.invocation.signal?.aborted) this.#noteStop(attempt.outcome);
      waiting.settle(attempt.outcome);
    }
    this.#measure();
    this.#dispatch();
  }

  async #attempt(slot: Slot, invocation: Invocation): Promise<Attempt<InvocationOutcome>> {
    const mayBegin = await (invocation.begin?.() ?? Promise.resolve(true)).catch(() => false);
    if (!mayBegin) return { refused: false, outcome: { kind: 'unavailable' } };
    const { revision } = slot.instance;
    return this.#options.transport.invoke(slot.instance, { ...invocation, revision }, (concurrency) => {
      slot.concurrency = concurrency;
    });
  }

  #noteStop({ kind }: InvocationOutcome): void {
    const reason = (STOPS as Partial<Record<InvocationOutcome['kind'], StopReason>>)[kind];
    if (reason !== undefined) this.#stops.add(reason, performance.now());
  }

  #rest(slot: Slot): void {
    const restMs = Math.min(MIN_REST_MS * 2 ** slot.refusals, MAX_REST_MS);
    slot.refusals += 1;
    slot.resting = true;
    setTimeout(() => {
      slot.resting = false;
      this.#dispatch();
    }, restMs).unref();
  }

  #measure(): void {
    this.#window.set(this.#inFlight + this.waiting, performance.now());
  }

  #notice(): void {
    const { onWaiting } = this.#options;
    const now = performance.now();
    if (onWaiting === undefined || now - this.#noticedAt < NOTICE_EVERY_MS) return;
    this.#noticedAt = now;
    onWaiting();
    setTimeout(() => {
      if (this.waiting > 0) onWaiting();
    }, NOTICE_AGAIN_MS).unref();
  }
}
