export interface OpenLoop<Answer> {
  /** In the order in which they came. */
  readonly answers: readonly Answer[];
  /** Begins no more calls; resolves once all are answered. Rejects where one did. */
  stop(): Promise<readonly Answer[]>;
}

/**
 * Calls so many times a second, whether or not what was called before has answered: callers on the other side of a
 * network do not slow down because an answer takes long, and a queue fills up only where nobody does.
 */
export function startOpenLoop<Answer>(perSecond: number, call: () => Promise<Answer>): OpenLoop<Answer> {
  const answers: Answer[] = [];
  const calls: Promise<unknown>[] = [];
  const since = performance.now();
  const timer = setInterval(() => {
    // A timer that comes late is made up for.
    const due = ((performance.now() - since) * perSecond) / 1_000;
    while (calls.length < due) calls.push(call().then((answer) => answers.push(answer)));
  }, 5);
  return {
    answers,
    async stop() {
      clearInterval(timer);
      await Promise.all(calls);
      return answers;
    },
  };
}
