/**
 * Milliseconds that this thread has computed. A machine that is busy, or a container at its CPU limit, stops us for
 * longer than a template may take, and what is good must not be refused for that.
 */
function computedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** How long something may compute, from now on. */
export class ComputingTime {
  readonly #milliseconds: number;
  readonly #computedBefore = computedMs();
  /** Until then, it cannot have computed for too long. */
  #lookAt: number;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.#lookAt = performance.now() + milliseconds;
  }

  get usedMs(): number {
    return computedMs() - this.#computedBefore;
  }

  /** Asks the clock that is dear only when the cheap one says that it may be so. */
  get isOver(): boolean {
    const now = performance.now();
    if (now <= this.#lookAt) return false;
    const leftMs = this.#milliseconds - this.usedMs;
    this.#lookAt = now + leftMs;
    return leftMs <= 0;
  }
}
