import { readBacklog } from '../../../data/invocation-claims.ts';
import type { InvocationState } from '../../../data/invocations.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import { type AttemptEnd, deliverResult } from './deliver.ts';
import { type RunEnd, runInvocation } from './run.ts';
import { createStageWorker } from './stage-worker.ts';
import type { AsynchronousParts } from './types.ts';

/**
 * What one process runs at a time, so that reactors stay free for callers who wait: asynchronous runs take up to five
 * minutes.
 */
export const RUN_LIMITS = { inAll: 8, perTenant: 4, perReactor: 2 } as const;
/** What one process delivers at a time: receivers that hang must not hold up those of other tenants. */
export const DELIVERY_LIMITS = { inAll: 16, perTenant: 4, perReactor: 4 } as const;

/** Code that runs when the process is asked to stop may go on for at least this long, in ms. */
const RUN_GRACE_MS = 2_000;
const BACKLOG_INTERVAL_MS = 15_000;
const DUE_STATES = ['waiting', 'running', 'done'] as const satisfies readonly InvocationState[];

/** Runs asynchronous invocations and delivers their results, beside the workers of other processes. */
export interface AsynchronousWorker {
  start(): void;
  /** One has been accepted. */
  poke(): void;
  /** Claims nothing more, interrupts what runs once the process serves no longer, leaves the rest to others. */
  stop(servesForMs?: number): Promise<void>;
}

function createMeters(metrics: Metrics) {
  return {
    ended: metrics.counter<'outcome'>({
      name: 'asynchronous_invocations_ended_total',
      help: 'Asynchronous invocations whose code has ended, by outcome: completed, failed or interrupted.',
      labels: ['outcome'],
    }),
    attempts: metrics.counter<'result'>({
      name: 'callback_attempts_total',
      help: 'Attempts to deliver results to their callback URLs, by result.',
      labels: ['result'],
    }),
    givenUp: metrics.counter({
      name: 'callbacks_given_up_total',
      help: 'Results that were not delivered: after the last attempt, or because what is stored is damaged.',
    }),
    backlog: metrics.gauge<'state'>({
      name: 'asynchronous_invocations',
      help: 'Asynchronous invocations of all replicas: waiting to run, running, or done and to be delivered.',
      labels: ['state'],
    }),
    oldest: metrics.gauge<'state'>({
      name: 'asynchronous_invocations_oldest_seconds',
      help: 'Time since the oldest of them was accepted.',
      labels: ['state'],
    }),
  };
}

export function createAsynchronousWorker(parts: AsynchronousParts & { readonly metrics: Metrics }): AsynchronousWorker {
  const { database, maintenance, logger } = parts;
  const meters = createMeters(parts.metrics);

  function countRun(ended: RunEnd): void {
    if (ended === 'postponed' || ended === 'lost') return;
    meters.ended.inc({ outcome: ended });
    deliveries.poke();
  }

  function countAttempt(attempt: AttemptEnd | 'postponed' | 'lost', givenUp: boolean): void {
    if (attempt !== 'postponed' && attempt !== 'lost') meters.attempts.inc({ result: attempt });
    if (givenUp) meters.givenUp.inc();
  }

  async function measureBacklog(): Promise<void> {
    const backlog = new Map((await readBacklog(maintenance)).map((found) => [found.state, found]));
    for (const state of DUE_STATES) {
      meters.backlog.set({ state }, backlog.get(state)?.count ?? 0);
      meters.oldest.set({ state }, backlog.get(state)?.oldestSeconds ?? 0);
    }
  }

  const deliveries = createStageWorker({
    ...{ database, maintenance, logger, stage: 'deliver', limits: DELIVERY_LIMITS },
    async work(claimed, signal) {
      const { attempt, givenUp } = await deliverResult(parts, claimed, signal);
      countAttempt(attempt, givenUp);
    },
  });
  const runs = createStageWorker({
    ...{ database, maintenance, logger, stage: 'run', limits: RUN_LIMITS },
    work: async (claimed, signal) => countRun(await runInvocation(parts, claimed, signal)),
  });
  let timer: NodeJS.Timeout | undefined;

  return {
    start() {
      timer = setInterval(() => void measureBacklog().catch(() => undefined), BACKLOG_INTERVAL_MS).unref();
      runs.start();
      deliveries.start();
    },
    poke: () => runs.poke(),
    async stop(servesForMs = 0) {
      clearInterval(timer);
      // What runs to its end meanwhile is delivered by others, or after the next start.
      await Promise.all([runs.stop(servesForMs + RUN_GRACE_MS), deliveries.stop(0)]);
    },
  };
}
