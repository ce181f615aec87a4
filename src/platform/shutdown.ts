import type { Logger } from './logger.ts';

export type Closer = () => Promise<void> | void;

/** What has been started and must be stopped, last started first. */
export interface ShutdownStack {
  /** Registers `close` under a name for the log. Call it as soon as the part has started. */
  push(name: string, close: Closer): void;
  /**
   * Runs every closer, each after those pushed later have settled. Once the deadline has passed, those left are started
   * without waiting for one another. Never rejects: failures are logged. A second call awaits the first.
   */
  run(): Promise<void>;
}

export interface ShutdownOptions {
  readonly logger: Logger;
  /** For all closers together. */
  readonly deadlineMs?: number;
}

/** Leaves 1 s of the 10 s between SIGTERM and exit for the process itself to end. */
const DEFAULT_DEADLINE_MS = 9_000;

export function createShutdownStack({ logger, deadlineMs = DEFAULT_DEADLINE_MS }: ShutdownOptions): ShutdownStack {
  const closers: { readonly name: string; readonly close: Closer }[] = [];
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    const { promise: deadline, resolve: expire } = Promise.withResolvers<void>();
    let expired = false;
    const timer = setTimeout(() => {
      expired = true;
      expire();
    }, deadlineMs);
    try {
      for (let next = closers.pop(); next !== undefined; next = closers.pop()) {
        const { name, close } = next;
        let settled = false;
        const closing = (async () => close())()
          .catch((error: unknown) => logger.error({ closer: name, error }, 'Part failed to stop'))
          .finally(() => (settled = true));
        await Promise.race([closing, deadline]);
        if (expired && !settled) logger.warn({ closer: name, deadlineMs }, 'Part did not stop in time');
      }
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    push(name, close) {
      closers.push({ name, close });
    },
    run() {
      return (running ??= runAll());
    },
  };
}
