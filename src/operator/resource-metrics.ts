import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Condition, ConditionType } from '../domain/resource-status.ts';
import { RESOURCE_KINDS } from './sources/types.ts';
import type { ResourceStore } from './store.ts';

type ConditionStatus = Condition['status'];

/** What a condition can say; those but `Ready` are there only while they hold. */
const STATUSES: Record<ConditionType, readonly ConditionStatus[]> = {
  Ready: ['True', 'False', 'Unknown'],
  Reconciling: ['True'],
  Stalled: ['True'],
  Paused: ['True'],
};

/**
 * How many resources show each condition, and why those are not ready that are not; counted when the metrics are read.
 * Names no resource.
 */
export function registerResourceMetrics(registry: Registry, store: Pick<ResourceStore, 'list'>): void {
  const series = Object.entries(STATUSES).flatMap(([condition, statuses]) =>
    statuses.map((status) => ({ condition, status })),
  );
  new Gauge({
    name: 'tokenkeep_resource_condition',
    help: 'Number of resources by kind whose condition has this status',
    labelNames: ['kind', 'condition', 'status'] as const,
    registers: [registry],
    collect() {
      for (const kind of RESOURCE_KINDS) {
        for (const labels of series) this.set({ kind, ...labels }, 0);
        for (const { status } of store.list(kind)) {
          for (const condition of status?.conditions ?? []) {
            this.inc({ kind, condition: condition.type, status: condition.status });
          }
        }
      }
    },
  });
  new Gauge({
    name: 'tokenkeep_resource_not_ready',
    help: 'Number of resources that are not ready, by kind and the reason in their status',
    labelNames: ['kind', 'reason'] as const,
    registers: [registry],
    collect() {
      // Reasons that no resource has any more are gone.
      this.reset();
      for (const kind of RESOURCE_KINDS) {
        for (const { status } of store.list(kind)) {
          const condition = status?.conditions?.find(({ type }) => type === 'Ready');
          if (condition?.status === 'False') this.inc({ kind, reason: condition.reason });
        }
      }
    },
  });
}
