/** Work that is done again and again. */
export interface Repetition {
  /** Resolves once what is under way is done; nothing begins any more. */
  stop(): Promise<void>;
}

export interface RepeatOptions {
  /** Between the end of one turn and the beginning of the next, where the turn does not say. */
  readonly pauseMs: number;
  /** `isFirst`: the turn before succeeded. */
  readonly onFailure: (error: unknown, isFirst: boolean) => void;
}

/** Begins at once. `work` may give the pause after it, in ms; a failure ends nothing. */
export function repeat(work: () => Promise<number | void>, { pauseMs, onFailure }: RepeatOptions): Repetition {
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  let hasFailed = false;
  let running = Promise.resolve();

  async function turn(): Promise<void> {
    let pause: number | void = undefined;
    try {
      pause = await work();
      hasFailed = false;
    } catch (error) {
      onFailure(error, !hasFailed);
      hasFailed = true;
    }
    if (isStopping) return;
    timer = setTimeout(begin, pause ?? pauseMs);
    timer.unref();
  }

  function begin(): void {
    running = turn();
  }

  begin();
  return {
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      await running;
    },
  };
}
