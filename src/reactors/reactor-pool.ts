import type { ReactorInstance } from '../domain/declarations.ts';
import type { Transport } from './transport.ts';
import type { Invocation, InvocationOutcome } from './types.ts';

interface Slot {
  instance: ReactorInstance;
  inFlight: number;
  /** As the instance says in its answers; one until it has. */
  concurrency: number;
  /** Refusals in a row; while it rests after one, nothing is sent to it. */
  refusals: number;
  resting: boolean;
}

interface Waiting {
  invocation: Invocation;
  settle: (outcome: InvocationOutcome) => void;
  deadline: number;
  timer: NodeJS.Timeout | undefined;
}

export interface PoolOptions {
  transport: Transport;
  maxWaitMs: number;
  maxWaiting: number;
}

const MIN_REST_MS = 20;
const MAX_REST_MS = 320;

/** The ready instances of one reactor and the invocations held for them, first come, first served. */
export class ReactorPool {
  readonly #options: PoolOptions;
  #slots: Slot[] = [];
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isEmpty(): boolean {
    return this.#slots.length === 0 && this.#inFlight === 0 && this.#waiting.length === 0;
  }

  /** Instances that stay keep what is known of them. */
  replace(instances: ReactorInstance[]): void {
    this.#slots = instances.map(
      (instance) =>
        this.#slots.find(
          ({ instance: known }) => known.address === instance.address && known.credential === instance.credential,
        ) ?? { instance, inFlight: 0, concurrency: 1, refusals: 0, resting: false },
    );
    this.#dispatch();
  }

  invoke(invocation: Invocation): Promise<InvocationOutcome> {
    const { promise, resolve } = Promise.withResolvers<InvocationOutcome>();
    const deadline = performance.now() + this.#options.maxWaitMs;
    const waiting: Waiting = { invocation, settle: resolve, deadline, timer: undefined };
    this.#hold(waiting, 'last');
    this.#dispatch();
    if (this.#waiting.length > this.#options.maxWaiting) this.#giveUp(waiting);
    return promise;
  }

  /** Fails what waits and what would have to wait from now on. */
  close(): void {
    this.#closed = true;
    for (const waiting of [...this.#waiting]) this.#giveUp(waiting);
  }

  #hold(waiting: Waiting, place: 'first' | 'last'): void {
    waiting.timer = setTimeout(() => this.#giveUp(waiting), waiting.deadline - performance.now());
    if (place === 'first') this.#waiting.unshift(waiting);
    else this.#waiting.push(waiting);
    if (this.#closed) this.#giveUp(waiting);
  }

  #release(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }

  #giveUp(waiting: Waiting): void {
    this.#release(waiting);
    waiting.settle({ kind: 'unavailable' });
  }

  #dispatch(): void {
    for (const waiting of [...this.#waiting]) {
      const slot = this.#freeSlot(waiting.invocation.revision);
      if (!slot) continue;
      this.#release(waiting);
      void this.#run(slot, waiting);
    }
  }

  /** The least loaded of the right revision. */
  #freeSlot(revision: string): Slot | undefined {
    return this.#slots
      .filter((slot) => slot.instance.revision === revision && !slot.resting && slot.inFlight < slot.concurrency)
      .reduce<Slot | undefined>((best, slot) => (best && best.inFlight <= slot.inFlight ? best : slot), undefined);
  }

  async #run(slot: Slot, waiting: Waiting): Promise<void> {
    slot.inFlight += 1;
    this.#inFlight += 1;
    const attempt = await this.#options.transport.invoke(slot.instance, waiting.invocation, (concurrency) => {
      slot.concurrency = concurrency;
    });
    slot.inFlight -= 1;
    this.#inFlight -= 1;
    if (attempt.refused) {
      this.#rest(slot);
      this.#hold(waiting, 'first');
    } else {
      slot.refusals = 0;
      waiting.settle(attempt.outcome);
    }
    this.#dispatch();
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
}
