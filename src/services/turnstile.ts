import { DomainError } from '../domain/errors.ts';

export interface TurnstileLimits {
  /** Pieces of work under way at a time: in all, and of one group. */
  readonly atOnce: number;
  readonly atOnceOfGroup: number;
  /** Pieces of work that wait at a time: in all, and of one group. */
  readonly waiting: number;
  readonly waitingOfGroup: number;
  /** How long one waits, in ms. */
  readonly waitMs: number;
}

/** What is under way and what waits, of all groups together. */
export interface TurnstileState {
  readonly running: number;
  readonly waiting: number;
}

export interface TurnstileOptions {
  /** How one is refused that cannot wait, or has waited too long. */
  readonly busy: () => DomainError;
  readonly onChange?: (state: TurnstileState) => void;
}

/**
 * Lets work through a few at a time, so that what it takes up leaves room for everything else. Whoever waits is let in
 * in the order of arrival within a group, and the groups take turns.
 */
export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #options: TurnstileOptions;
  /** Work under way by group; without the groups that have none. */
  readonly #running = new Map<string, number>();
  /** Those who wait, by group, each let in by a call; the group whose turn it is comes first. */
  readonly #queues = new Map<string, (() => void)[]>();
  #state: TurnstileState = { running: 0, waiting: 0 };

  constructor(limits: TurnstileLimits, options: TurnstileOptions) {
    this.#limits = limits;
    this.#options = options;
  }

  get state(): TurnstileState {
    return this.#state;
  }

  /**
   * What `work` gives, once it is its turn. Throws what `busy` gives, and does not begin it, where too many wait
   * already and where the wait takes too long; 'unavailable' where `signal` is aborted first.
   */
  async pass<Result>(group: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (signal?.aborted === true) throw gone();
    if (this.#hasRoom(group)) this.#admit(group);
    else await this.#wait(group, signal);
    try {
      return await work();
    } finally {
      this.#release(group);
    }
  }

  #hasRoom(group: string): boolean {
    const { atOnce, atOnceOfGroup } = this.#limits;
    return this.#state.running < atOnce && (this.#running.get(group) ?? 0) < atOnceOfGroup;
  }

  #change(running: number, waiting: number): void {
    this.#state = { running: this.#state.running + running, waiting: this.#state.waiting + waiting };
    this.#options.onChange?.(this.#state);
  }

  #admit(group: string): void {
    this.#running.set(group, (this.#running.get(group) ?? 0) + 1);
    this.#change(1, 0);
  }

  #release(group: string): void {
    const left = this.#running.get(group)! - 1;
    if (left === 0) this.#running.delete(group);
    else this.#running.set(group, left);
    this.#change(-1, 0);
    this.#admitNext();
  }

  // What ends makes room for one at most: nobody waits for whom there was room before.
  #admitNext(): void {
    for (const [group, queue] of this.#queues) {
      if (!this.#hasRoom(group)) continue;
      const enter = queue.shift()!;
      this.#queues.delete(group);
      // Behind the other groups.
      if (queue.length > 0) this.#queues.set(group, queue);
      this.#change(0, -1);
      this.#admit(group);
      enter();
      return;
    }
  }

  async #wait(group: string, signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#queues.get(group) ?? [];
    const { waiting, waitingOfGroup, waitMs } = this.#limits;
    if (this.#state.waiting >= waiting || queue.length >= waitingOfGroup) throw this.#options.busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.push(resolve);
    this.#queues.set(group, queue);
    this.#change(0, 1);

    const leave = (reason: DomainError): void => {
      this.#remove(group, resolve);
      reject(reason);
    };
    const depart = (): void => leave(gone());
    const timer = setTimeout(() => leave(this.#options.busy()), waitMs);
    signal?.addEventListener('abort', depart);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', depart);
    }
  }

  /** Does nothing for one that has just been let in. */
  #remove(group: string, enter: () => void): void {
    const queue = this.#queues.get(group);
    const index = queue?.indexOf(enter) ?? -1;
    if (queue === undefined || index === -1) return;
    queue.splice(index, 1);
    if (queue.length === 0) this.#queues.delete(group);
    this.#change(0, -1);
  }
}

function gone(): DomainError {
  return new DomainError('unavailable', 'The caller went away before it was its turn.');
}
