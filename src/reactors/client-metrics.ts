import { Gauge } from 'prom-client';
import type { Metrics } from '../platform/metrics.ts';
import type { ClientObserver } from './client.ts';
import { FAILURES } from './errors.ts';
import type { RejectionReason } from './reactor-pool.ts';
import type { InvocationOutcome } from './types.ts';

/** From an instance that is a process on this machine to one whose image a node has to get first, in seconds. */
const START_BUCKETS = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20];
/** From code that only computes to an asynchronous run's longest, in seconds. */
const INVOCATION_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 300];
const OUTCOMES: readonly InvocationOutcome['kind'][] = [
  'returned',
  'threw',
  'custom-response',
  ...(Object.keys(FAILURES) as (keyof typeof FAILURES)[]),
];
const REASONS: readonly RejectionReason[] = ['queue-full', 'no-instance-in-time', 'stopping'];

/**
 * Figures of what callers notice of reactors, of all of them together. They name none: tenants make reactors as they
 * like, and each would be a series in every replica. Which one it is, the metrics of the instance tell.
 */
export function createPoolMetrics(metrics: Metrics, load: () => { inFlight: number; waiting: number }): ClientObserver {
  const durations = metrics.histogram({
    name: 'reactor_invocation_duration_seconds',
    help: 'Time from an invocation’s arrival to its outcome, waiting for an instance included, by outcome and mode.',
    labels: ['outcome', 'mode'],
    buckets: INVOCATION_BUCKETS,
  });
  for (const outcome of OUTCOMES) durations.zero({ outcome, mode: 'synchronous' });
  const coldStarts = metrics.counter({
    name: 'reactor_cold_starts_total',
    help: 'Invocations that came when no instance of their reactor was there, and got one',
  });
  const coldStartSeconds = metrics.histogram({
    name: 'reactor_cold_start_seconds',
    help: 'How long such invocations waited for their instance',
    buckets: START_BUCKETS,
  });
  const rejected = metrics.counter({
    name: 'reactor_rejected_total',
    help: 'Invocations that were refused before any code ran, by reason',
    labels: ['reason'],
  });
  for (const reason of REASONS) rejected.inc({ reason }, 0);
  const registers = [metrics.registry];
  new Gauge({
    ...{ name: 'tokenkeep_reactor_inflight', help: 'Invocations of reactors that run', registers },
    collect() {
      this.set(load().inFlight);
    },
  });
  new Gauge({
    ...{ name: 'tokenkeep_reactor_waiting', help: 'Invocations of reactors that wait for an instance', registers },
    collect() {
      this.set(load().waiting);
    },
  });
  return {
    coldStarted(waitedMs) {
      coldStarts.inc();
      coldStartSeconds.observe(waitedMs / 1_000);
    },
    rejected: (reason) => rejected.inc({ reason }),
    ended({ asynchronous = false }, { kind: outcome }, tookMs) {
      const mode = asynchronous ? 'asynchronous' : 'synchronous';
      durations.observe({ outcome, mode }, tookMs / 1_000);
    },
  };
}
