/** Does one thing once; rejects where the answer is not the expected one. */
export type Operation = () => Promise<unknown>;

export interface Load {
  /** Operations under way at any time: each of so many workers begins its next one when the last has ended. */
  readonly concurrency: number;
  readonly durationMs: number;
  readonly maxOperations: number;
}

export interface LoopResult {
  readonly seconds: number;
  /** In ms, one an operation, in ascending order. */
  readonly latencies: Float64Array;
}

/** Repeats an operation for the time given. The first one that fails ends the loop. */
export async function runLoop(
  operation: Operation,
  { concurrency, durationMs, maxOperations }: Load,
): Promise<LoopResult> {
  const latencies: number[] = [];
  const began = performance.now();
  let left = maxOperations;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const start = performance.now();
      if (start - began >= durationMs) return;
      await operation();
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - began) / 1000;
  return { seconds, latencies: Float64Array.from(latencies).sort() };
}

/** The value below which the given part of ascending values lies; NaN for none. */
export function quantile(ascending: Float64Array, part: number): number {
  return ascending[Math.min(Math.floor(ascending.length * part), ascending.length - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}
