import type ivm from 'isolated-vm';
import type { StopReason } from '../../../domain/reactor-supervision.ts';

/** Guest code went over a budget. The process that ran it is to be ended. */
export class Breach extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(reason);
    this.reason = reason;
  }
}

/** The code let an error go by that nobody catches: thrown by a timer, or a rejection that is not handled. */
export class Uncaught extends Error {
  /** Of a built-in class, if it is of one; bounded. */
  override readonly name: string;
  /** Of the code; 0 where it is not known. */
  readonly line: number;

  constructor(thrown: unknown) {
    super('uncaught');
    const { name, stack } = thrown instanceof Error ? thrown : { name: 'a value', stack: '' };
    this.name = String(name).slice(0, MAX_NAME);
    this.line = Number(/reactor\.js:(\d{1,7})/.exec(String(stack))?.[1] ?? 0);
  }
}

const MAX_NAME = 20;
/** The timer of isolated-vm and our clock are not the same. */
const CLOCKS_DIFFER_MS = 5;

/** What is left of an invocation's CPU time. */
export interface CpuBudget {
  leftMs: number;
}

/** Runs one stretch of guest code, given the longest time in ms that it may take; rejects with a Breach or Uncaught. */
export type Metered = <T>(budget: CpuBudget, stretch: (timeoutMs: number) => Promise<T>) => Promise<T>;

/** Lets guest code in one stretch at a time, so that the CPU time of each is known. */
export function createMeter(isolate: ivm.Isolate, sliceMs: number): Metered {
  let last: Promise<unknown> = Promise.resolve();

  return (budget, stretch) => {
    const run = async () => {
      if (isolate.isDisposed) throw new Breach('out-of-memory');
      const cpuBefore = isolate.cpuTime;
      const begun = performance.now();
      const timeoutMs = Math.max(Math.ceil(Math.min(sliceMs, budget.leftMs)), 1);
      try {
        return await stretch(timeoutMs);
      } catch (error) {
        // isolated-vm names neither in a code: what it did to the isolate and the clock tell them apart.
        if (isolate.isDisposed) throw new Breach('out-of-memory');
        if (performance.now() - begun >= timeoutMs - CLOCKS_DIFFER_MS) throw new Breach('timed-out');
        throw new Uncaught(error);
      } finally {
        if (!isolate.isDisposed) budget.leftMs -= Number(isolate.cpuTime - cpuBefore) / 1e6;
      }
    };
    const result = last.then(run).then((value) => {
      if (budget.leftMs <= 0) throw new Breach('timed-out');
      return value;
    });
    last = result.catch(() => undefined);
    return result;
  };
}
