/** Bounds how much runs at a time; what comes on top waits for its turn, first come first served. */
export interface Slots {
  /** Throws what `refuse` gives where too many wait already. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface SlotsOptions {
  readonly running: number;
  readonly waiting: number;
  readonly refuse: () => Error;
}

export function createSlots({ running: most, waiting: mostWaiting, refuse }: SlotsOptions): Slots {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (running < most) {
        running++;
      } else {
        if (waiting.length >= mostWaiting) throw refuse();
        // The slot is handed over: it stays taken, so that nobody new takes it in between.
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
  };
}
