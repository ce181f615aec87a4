/** Lets time go by in which this thread computes nothing, as where others have the machine. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Has this thread compute for so long, however long that takes. */
export function compute(ms: number): void {
  const before = process.threadCpuUsage();
  for (let used = 0; used < ms * 1_000;) {
    const { user, system } = process.threadCpuUsage(before);
    used = user + system;
  }
}
