import { REACTOR_DEFAULTS } from '../../domain/declarations.ts';
import type { CheckOutcome } from '../types.ts';
import { Sandbox } from './sandbox.ts';
import { checkOutcomeOf } from './verdict.ts';

/** Each check is a process; more at once would slow each of them towards its time limit. */
const CONCURRENT_CHECKS = 3;
/**
 * For the top level of code, in ms. Less than an instance allows: one queue serves every tenant, and code that loops
 * must not hold up the others' for long.
 */
const CHECK_LOAD_MS = 2_000;
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
    const sandbox = new Sandbox(REACTOR_DEFAULTS.memoryBytes, CHECK_LOAD_MS);
    this.#running.add(sandbox);
    try {
      return checkOutcomeOf(await sandbox.load(code, CHECK_LOAD_MS));
    } finally {
      await sandbox.kill();
      this.#running.delete(sandbox);
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken -= 1;
    }
  }

  /** Settles when the processes have ended. */
  async kill(): Promise<void> {
    await Promise.all([...this.#running].map((sandbox) => sandbox.kill()));
  }
}
