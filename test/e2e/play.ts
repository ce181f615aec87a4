import { setTimeout as delay } from 'node:timers/promises';
import type { Stage, Step } from './step.ts';
import { seconds, type Outcome } from './table.ts';

const STEP_DEADLINE_MS = 10 * 60_000;

export interface Played extends Outcome {
  /** Why, where it has failed. */
  readonly failure?: string;
}

/** Runs a step, and says what becomes of it. One that does not end by its deadline has failed; it is not stopped. */
export async function play(step: Step, stage: Stage, say: (line: string) => void): Promise<Played> {
  const { name, deadlineMs = STEP_DEADLINE_MS } = step;
  say(`── ${name}`);
  const begun = performance.now();
  const outcomeOf = (result: Outcome['result'], remark: string): Outcome => {
    const ms = performance.now() - begun;
    say(`   ${result} in ${seconds(ms)} s ${remark}`.trimEnd());
    return { name, result, ms, remark };
  };
  try {
    return outcomeOf('passed', (await within(deadlineMs, step.run(stage))) ?? '');
  } catch (error) {
    return { ...outcomeOf('FAILED', ''), failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Rejects past the deadline, with the work still going on. */
export async function within<Result>(deadlineMs: number, work: Promise<Result>): Promise<Result> {
  const settled = new AbortController();
  const late = delay(deadlineMs, undefined, { signal: settled.signal }).then(() => {
    throw new Error(`it has not ended within ${seconds(deadlineMs)} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    settled.abort();
  }
}
