import { Gauge } from 'prom-client';
import type { StopReason } from '../../domain/reactor-supervision.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { InvocationOutcome } from '../types.ts';

/** Told of what one instance runs. */
export interface InstanceObserver {
  follow(load: () => { inFlight: number; concurrency: number }): void;
  ended(outcome: InvocationOutcome, tookMs: number): void;
  stopped(reason: StopReason): void;
}

const STOPS: readonly StopReason[] = ['timed-out', 'out-of-memory', 'crashed'];

/**
 * Figures of one reactor's instance. They name no reactor: whose they are, the labels of the pod tell whoever scrapes
 * it.
 */
export function createInstanceMetrics(metrics: Metrics): InstanceObserver {
  const durations = metrics.histogram({
    name: 'instance_invocation_duration_seconds',
    help: 'Time that an invocation took in this instance of a reactor, by outcome.',
    labels: ['outcome'],
  });
  const stops = metrics.counter({
    name: 'instance_process_stops_total',
    help: 'Processes of the code that ended in the middle of their work, by reason.',
    labels: ['reason'],
  });
  durations.zero({ outcome: 'returned' });
  for (const reason of STOPS) stops.inc({ reason }, 0);
  return {
    follow(load) {
      const registers = [metrics.registry];
      new Gauge({
        ...{
          name: 'tokenkeep_instance_invocations_in_flight',
          help: 'Invocations that this instance runs.',
          registers,
        },
        collect() {
          this.set(load().inFlight);
        },
      });
      new Gauge({
        ...{ name: 'tokenkeep_instance_concurrency', help: 'Invocations that it may run at a time.', registers },
        collect() {
          this.set(load().concurrency);
        },
      });
    },
    ended: ({ kind: outcome }, tookMs) => durations.observe({ outcome }, tookMs / 1_000),
    stopped: (reason) => stops.inc({ reason }),
  };
}
