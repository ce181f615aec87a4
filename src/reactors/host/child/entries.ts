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

/** What is left of an invocation's CPU time. */
export interface CpuBudget {
  leftMs: number;
}

/** Runs one stretch of guest code, given the longest time that it may take in ms; rejects with a Breach. */
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
        if (performance.now() - begun >= timeoutMs) throw new Breach('timed-out');
        throw error;
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
