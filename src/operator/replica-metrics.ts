import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { SCALING_ENGINES } from '../domain/declarations.ts';
import type { WorkloadReconciler } from './reconcilers/workload.ts';

/**
 * How many instances of reactors are asked for, and answer, and how many reactors fail, counted when the metrics are
 * read. Names no reactor.
 */
export function registerReplicaMetrics(registry: Registry, workloads: Pick<WorkloadReconciler, 'states'>): void {
  const figures = [
    { name: 'desired', help: 'Instances of reactors that are asked for', count: desiredOf },
    { name: 'ready', help: 'Instances of reactors that answer', count: readyOf },
  ];
  for (const { name, help, count } of figures) {
    new Gauge({
      name: `tokenkeep_reactor_${name}_replicas`,
      help: `${help}, by what decides on their number`,
      labelNames: ['engine'] as const,
      registers: [registry],
      collect() {
        for (const engine of SCALING_ENGINES) this.set({ engine }, 0);
        for (const state of workloads.states()) this.inc({ engine: state.engine }, count(state));
      },
    });
  }
  new Gauge({
    name: 'tokenkeep_reactors_failing',
    help: 'Reactors whose instances do not run as they should, by reason; declared or made through the API',
    labelNames: ['reason'] as const,
    registers: [registry],
    collect() {
      // Reasons that no reactor has any more are gone.
      this.reset();
      for (const { failure, failureReason } of workloads.states()) {
        if (failure !== undefined) this.inc({ reason: failureReason ?? 'InstancesFailing' });
      }
    },
  });
}

type State = ReturnType<WorkloadReconciler['states']>[number];

const desiredOf = ({ desired }: State) => desired;
const readyOf = ({ ready }: State) => ready.length;
