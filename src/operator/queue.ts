import type { Timers } from './timers.ts';

/** What became of a key: nothing more to do, look again later, or failed for now. */
export type WorkResult = { requeueAfterMs?: number } | { failed: true };

export interface WorkQueue {
  /** Has the key worked on soon; once, however often it is added before its turn. */
  add(key: string): void;
  /** Resolves once nothing runs, is due, or is to be tried again. Work that was put off deliberately does not count. */
  idle(): Promise<void>;
  /** Takes no more work and resolves once what runs is done. */
  stop(): Promise<void>;
}

export interface WorkQueueOptions {
  /** Must not reject. */
  work: (key: string) => Promise<WorkResult>;
  clock: Timers;
  /** Keys worked on at the same time. */
  workers?: number;
  longestBackoffMs?: number;
}

const FIRST_BACKOFF_MS = 5;
const LONGEST_BACKOFF_MS = 1_000_000;
const WORKERS = 8;

/**
 * Works on keys, each by one worker at a time. A key that is added while it is worked on has its turn again after. A
 * failed key is tried again after 5 ms, then twice as long each time, up to 1,000 s unless told; `add` does not wait
 * for that.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { work, clock, workers = WORKERS, longestBackoffMs = LONGEST_BACKOFF_MS } = options;
  const due = new Set<string>();
  const running = new Set<string>();
  const failures = new Map<string, number>();
  const delayed = new Map<string, () => void>();
  let waitingForIdle: (() => void)[] = [];
  let stopped = false;

  const isIdle = () => running.size === 0 && (stopped || (due.size === 0 && failures.size === 0));

  function settle(): void {
    if (!isIdle()) return;
    const resolvers = waitingForIdle;
    waitingForIdle = [];
    for (const resolve of resolvers) resolve();
  }

  function addAfter(key: string, delayMs: number): void {
    delayed.get(key)?.();
    delayed.set(
      key,
      clock.schedule(delayMs, () => add(key)),
    );
  }

  function add(key: string): void {
    if (stopped) return;
    delayed.get(key)?.();
    delayed.delete(key);
    due.add(key);
    dispatch();
  }

  function dispatch(): void {
    for (const key of due) {
      if (stopped || running.size >= workers) return;
      if (running.has(key)) continue;
      due.delete(key);
      running.add(key);
      void run(key);
    }
  }

  async function run(key: string): Promise<void> {
    const result = await work(key).catch((): WorkResult => ({ failed: true }));
    running.delete(key);
    if ('failed' in result) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      if (!due.has(key) && !stopped) addAfter(key, Math.min(FIRST_BACKOFF_MS * 2 ** count, longestBackoffMs));
    } else {
      failures.delete(key);
      if (result.requeueAfterMs !== undefined && !due.has(key) && !stopped) addAfter(key, result.requeueAfterMs);
    }
    dispatch();
    settle();
  }

  const idle = () =>
    new Promise<void>((resolve) => {
      waitingForIdle.push(resolve);
      settle();
    });

  return {
    add,
    idle,
    async stop() {
      stopped = true;
      for (const cancel of delayed.values()) cancel();
      delayed.clear();
      due.clear();
      await idle();
    },
  };
}
