import { REACTOR_DEFAULTS } from '../../domain/declarations.ts';
import { LOAD_TIMEOUT_MS } from '../types.ts';
import type { CheckOutcome } from '../types.ts';
import { Sandbox } from './sandbox.ts';
import { checkOutcomeOf } from './verdict.ts';

/** Each check is a process; more at once would slow each of them towards its time limit. */
const CONCURRENT_CHECKS = 2;
const MAX_WAITING = 20;

/** Checks code, each time in a process that has seen no other: codes of two tenants never meet. */
export class Checker {
  readonly #running = new Set<Sandbox>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /** Undefined when too many checks are waiting. */
  async check(code: string): Promise<CheckOutcome | undefined> {
    if (this.#taken >= CONCURRENT_CHECKS) {
      if (this.#waiting.length >= MAX_WAITING) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    } else {
      this.#taken += 1;
    }
    const sandbox = new Sandbox(REACTOR_DEFAULTS.memoryBytes, LOAD_TIMEOUT_MS);
    this.#running.add(sandbox);
    try {
      return checkOutcomeOf(await sandbox.load(code));
    } finally {
      sandbox.kill();
      this.#running.delete(sandbox);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken -= 1;
    }
  }

  kill(): void {
    for (const sandbox of this.#running) sandbox.kill();
  }
}
