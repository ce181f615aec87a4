/** When it is found out how key management is. */
export interface KeyLooks {
  /** Finds it out, unless that was done just now. Never rejects. */
  look(): Promise<void>;
  /** As `look`, from what is found out from now on alone. */
  lookAfresh(): Promise<void>;
  /** As `look`, waited for by nobody, and as soon as it tells more than the last one. */
  lookSoon(): void;
  /** Looks again and again from now on. */
  start(): void;
  stop(): void;
}

/** In ms. The waits between two looks are up to a fifth shorter or longer, so that replicas do not ask together. */
export interface LookIntervals {
  /** While it can be used. */
  readonly up: number;
  /** While it cannot. */
  readonly down: number;
  /** How old a look may be that is not repeated. */
  readonly fresh: number;
}

export const DEFAULT_LOOK_INTERVALS: LookIntervals = { up: 10_000, down: 1_500, fresh: 1_000 };

export interface KeyLooksOptions {
  /** Finds it out. Never rejects. */
  readonly find: () => Promise<void>;
  readonly isUp: () => boolean;
  /** Whether what requests have done since the last look tells as much as another one would. */
  readonly isShown: () => boolean;
  readonly intervals: LookIntervals;
}

export function createKeyLooks({ find, isUp, isShown, intervals }: KeyLooksOptions): KeyLooks {
  let finding: Promise<void> | undefined;
  let foundAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;

  function begin(): Promise<void> {
    finding ??= find().finally(() => {
      foundAt = performance.now();
      finding = undefined;
    });
    return finding;
  }

  async function look(): Promise<void> {
    if (performance.now() - foundAt >= intervals.fresh) await begin();
  }

  function schedule(): void {
    const waitMs = (isUp() ? intervals.up : intervals.down) * (0.8 + 0.4 * Math.random());
    timer = setTimeout(() => void again(), waitMs).unref();
  }

  async function again(): Promise<void> {
    if (!isUp() || !isShown()) await look();
    if (timer !== undefined) schedule();
  }

  return {
    look,
    async lookAfresh() {
      await finding;
      await begin();
    },
    lookSoon() {
      const waitMs = Math.max(0, foundAt + intervals.fresh - performance.now());
      soon ??= setTimeout(() => {
        soon = undefined;
        void look();
      }, waitMs).unref();
    },
    start() {
      timer = setTimeout(() => void again(), 0).unref();
    },
    stop() {
      clearTimeout(timer);
      clearTimeout(soon);
      timer = undefined;
    },
  };
}
