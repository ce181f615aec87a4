import { createLanes } from './queue-lanes.ts';
import type { Priority } from './queue-lanes.ts';
import type { Timers } from './timers.ts';

/** What became of a key. */
export type WorkResult = WorkDone | WorkFailed;

/** Nothing more to do, or to be looked at again later. */
export interface WorkDone {
  requeueAfterMs?: number;
  /** Whether only a change of the resource can mend it. */
  stalled?: boolean;
}

/** To be tried again. */
export interface WorkFailed {
  failed: true;
  /** Whether the program itself is at fault. */
  isBug?: boolean;
  /** How long whoever refused it asks to be left alone. */
  retryAfterMs?: number;
}

export interface WorkQueue {
  /**
   * Has the key worked on soon; once, however often it is added before its turn. Keys of low priority have their turn
   * when no others wait.
   */
  add(key: string, priority?: Priority): void;
  /** Whether nothing runs, is due, or is to be tried again. Work that was put off deliberately does not count. */
  readonly isIdle: boolean;
  /** Resolves once the queue is idle. */
  idle(): Promise<void>;
  /** Begins no more work; keys are still taken in, and what runs goes on. */
  hold(): void;
  /** Goes on with everything that was held. */
  release(): void;
  /** Works on one key although the queue is held: the one that waits longest. Undefined where none waits. */
  pass(): Promise<WorkResult> | undefined;
  load(): QueueLoad;
  /** Takes no more work and resolves once what runs is done. */
  stop(): Promise<void>;
}

/** What a queue has before it at this moment. */
export interface QueueLoad {
  /** Keys whose turn is to come. */
  waiting: Record<Priority, number>;
  /** For how long each running key has been worked on, in ms. */
  runningForMs: number[];
}

/** Told of each key, in order: added, then begun, then ended. */
export interface QueueObserver {
  /** Not told of a key that waits for its turn already. */
  added(): void;
  begun(waitedMs: number): void;
  ended(result: WorkResult, workedMs: number): void;
}

export interface WorkQueueOptions {
  /** Must not reject. */
  work: (key: string) => Promise<WorkResult>;
  clock: Timers;
  /** Keys worked on at the same time. Default 8. */
  workers?: number;
  longestBackoffMs?: number;
  observer?: QueueObserver;
}

const FIRST_BACKOFF_MS = 5;
const LONGEST_BACKOFF_MS = 1_000_000;
export const DEFAULT_WORKERS = 8;

/**
 * Works on keys, each by one worker at a time. A key that is added while it is worked on has its turn again after. A
 * failed key is tried again after 5 ms, then twice as long each time, up to 1,000 s unless told, and not before it was
 * asked to; `add` does not wait for that. A key that is passed through a held queue and fails has its turn again after
 * those that wait: what the queue is held for is not the key's own fault.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { work, clock, workers = DEFAULT_WORKERS, longestBackoffMs = LONGEST_BACKOFF_MS, observer } = options;
  const due = createLanes();
  /** Since when each is worked on. */
  const running = new Map<string, number>();
  const failures = new Map<string, number>();
  const delayed = new Map<string, () => void>();
  let waitingForIdle: (() => void)[] = [];
  let isHeld = false;
  let stopped = false;

  const isIdle = () => running.size === 0 && (stopped || (due.size === 0 && failures.size === 0));
  // The wall clock may be set back meanwhile.
  const since = (startMs: number) => Math.max(clock.now() - startMs, 0);

  function settle(): void {
    if (!isIdle()) return;
    const resolvers = waitingForIdle;
    waitingForIdle = [];
    for (const resolve of resolvers) resolve();
  }

  function addAfter(key: string, delayMs: number, priority: Priority): void {
    if (stopped || due.has(key)) return;
    delayed.set(
      key,
      clock.schedule(delayMs, () => add(key, priority)),
    );
  }

  function enter(key: string, priority: Priority): void {
    delayed.get(key)?.();
    delayed.delete(key);
    if (due.add(key, priority, clock.now())) observer?.added();
  }

  function add(key: string, priority: Priority = 'normal'): void {
    if (stopped) return;
    enter(key, priority);
    dispatch();
  }

  function dispatch(): void {
    while (!isHeld && !stopped && running.size < workers) {
      if (begin() === undefined) return;
    }
  }

  /** Begins with the next key that nobody works on. */
  function begin(): Promise<WorkResult> | undefined {
    const next = due.take((key) => !running.has(key));
    if (next === undefined) return undefined;
    running.set(next.key, clock.now());
    observer?.begun(since(next.addedAtMs));
    return run(next.key, next.priority);
  }

  async function run(key: string, priority: Priority): Promise<WorkResult> {
    const wasHeld = isHeld;
    const result = await work(key).catch((): WorkResult => ({ failed: true, isBug: true }));
    observer?.ended(result, since(running.get(key) ?? 0));
    running.delete(key);
    if (!('failed' in result)) {
      failures.delete(key);
      if (result.requeueAfterMs !== undefined) addAfter(key, result.requeueAfterMs, priority);
    } else if (wasHeld) {
      if (!stopped) enter(key, priority);
    } else {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const backoffMs = Math.max(FIRST_BACKOFF_MS * 2 ** count, result.retryAfterMs ?? 0);
      addAfter(key, Math.min(backoffMs, longestBackoffMs), priority);
    }
    dispatch();
    settle();
    return result;
  }

  const idle = () =>
    new Promise<void>((resolve) => {
      waitingForIdle.push(resolve);
      settle();
    });

  return {
    add,
    idle,
    get isIdle() {
      return isIdle();
    },
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      dispatch();
    },
    pass: () => (stopped ? undefined : begin()),
    load: () => ({ waiting: due.sizes(), runningForMs: [...running.values()].map(since) }),
    async stop() {
      stopped = true;
      for (const cancel of delayed.values()) cancel();
      delayed.clear();
      due.clear();
      await idle();
    },
  };
}
