import type { Logger } from '../platform/logger.ts';
import { createBackoff } from './backoff.ts';
import type { CallObserver } from './internal-client.ts';
import type { WorkQueue, WorkResult } from './queue.ts';
import type { Timers } from './timers.ts';

/**
 * Keeps the operator from asking an API that is away: one call without an answer is enough to hold the queues, so that
 * neither the API nor the status of every resource is flooded with the same failure. While it is closed, single keys
 * are let through now and then, and the first change that the API answers opens it.
 */
export interface ApiGate extends CallObserver {
  readonly isOpen: boolean;
  /** Lets a key through soon: there is reason to believe that the API is back. */
  hint(): void;
  /** Lets nothing through any more. */
  stop(): void;
}

export interface ApiGateOptions {
  /** Whose keys are let through in turn: what works on them asks the API for changes. */
  probing: readonly Pick<WorkQueue, 'hold' | 'release' | 'pass'>[];
  /** Held with the others. */
  waiting?: readonly Pick<WorkQueue, 'hold' | 'release'>[];
  clock: Timers;
  logger: Logger;
  /** From 0 to below 1. */
  random?: () => number;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export function createApiGate({ probing, waiting = [], clock, logger, random }: ApiGateOptions): ApiGate {
  let isOpen = true;
  let isStopped = false;
  let isProbing = false;
  /** Since an answer was missed, and until there was one: also while the gate is open for want of keys to ask with. */
  let isAway = false;
  const backoff = createBackoff({ firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS, random });
  let lastProbeAt = -Infinity;
  let nextProbeAt = Infinity;
  /** Calls without an answer so far. */
  let failures = 0;
  /** Whose turn it is to let a key through. */
  let turn = 0;
  let cancelProbe: () => void = () => undefined;

  function open(): void {
    isOpen = true;
    cancelProbe();
    for (const queue of [...probing, ...waiting]) queue.release();
  }

  function close(): void {
    isOpen = false;
    for (const queue of [...probing, ...waiting]) queue.hold();
    probeAfter(backoff.next());
  }

  function probeAfter(delayMs: number): void {
    cancelProbe();
    if (isStopped) return;
    nextProbeAt = clock.now() + delayMs;
    cancelProbe = clock.schedule(delayMs, () => void probe());
  }

  function passOne(): Promise<WorkResult> | undefined {
    for (let tries = 0; tries < probing.length; tries += 1) {
      turn = (turn + 1) % probing.length;
      const passed = probing[turn]?.pass();
      if (passed !== undefined) return passed;
    }
    return undefined;
  }

  async function probe(): Promise<void> {
    isProbing = true;
    lastProbeAt = clock.now();
    const failuresBefore = failures;
    let passed = passOne();
    while (passed !== undefined) {
      const result = await passed;
      if (isOpen || isStopped || failures > failuresBefore || 'failed' in result) break;
      // Done without asking the API, and so it tells nothing of it.
      passed = passOne();
    }
    isProbing = false;
    if (isOpen || isStopped) return;
    // Where no key waits there is nothing to hold back: the next one finds out.
    if (passed === undefined) open();
    else probeAfter(backoff.next());
  }

  return {
    get isOpen() {
      return isOpen;
    },
    answered() {
      backoff.reset();
      if (isAway) logger.info({}, 'The internal API answers again');
      isAway = false;
      if (!isOpen) open();
    },
    unanswered() {
      failures += 1;
      if (!isAway) logger.warn({}, 'The internal API is away; reconciling waits for it');
      isAway = true;
      if (isOpen && !isStopped) close();
    },
    hint() {
      if (isOpen || isProbing) return;
      // A connection that comes and goes is no reason to ask all the time.
      const delayMs = Math.min(Math.max(lastProbeAt + FIRST_PAUSE_MS - clock.now(), 0), FIRST_PAUSE_MS);
      if (clock.now() + delayMs < nextProbeAt) probeAfter(delayMs);
    },
    stop() {
      isStopped = true;
      cancelProbe();
    },
  };
}
