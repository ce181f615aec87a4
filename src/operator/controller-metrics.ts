import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import { PRIORITIES } from './queue-lanes.ts';
import type { Priority } from './queue-lanes.ts';
import type { QueueObserver, WorkQueue, WorkResult } from './queue.ts';

/** Figures of controllers under the names of controller-runtime and client-go: dashboards for those fit. */
export interface ControllerMetrics {
  /** What is to be told of the queue of a controller. */
  observe(controller: string, workers: number): QueueObserver;
  /** Reads from the queue of a controller, whenever the metrics are read, what lies before it. */
  follow(controller: string, queue: Pick<WorkQueue, 'load'>): void;
}

// As controller-runtime has them, in seconds.
const RECONCILE_BUCKETS = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5],
  ...[1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60],
];
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

/** controller-runtime's number for what comes from a first list or a resync. */
const PRIORITY_LABELS: Record<Priority, string> = { normal: '0', low: '-100' };

const RESULTS = ['success', 'error', 'requeue', 'requeue_after'] as const;

export function createControllerMetrics(registry: Registry): ControllerMetrics {
  const registers = [registry];
  const byController = { labelNames: ['controller'] as const, registers };
  const byQueue = { labelNames: ['name', 'controller'] as const, registers };
  const queues = new Map<string, Pick<WorkQueue, 'load'>>();

  const reconciles = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Total number of reconciliations per controller',
    labelNames: ['controller', 'result'] as const,
    registers,
  });
  const errors = new Counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Total number of reconciliation errors per controller',
    ...byController,
  });
  const terminalErrors = new Counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Total number of reconciliation errors per controller that only a change of the resource can mend',
    ...byController,
  });
  const panics = new Counter({
    name: 'controller_runtime_reconcile_panics_total',
    help: 'Total number of reconciliations per controller that ended in a fault of the program',
    ...byController,
  });
  const reconcileTime = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Length of time per reconciliation per controller',
    buckets: RECONCILE_BUCKETS,
    ...byController,
  });
  const maxConcurrent = new Gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Maximum number of concurrent reconciles per controller',
    ...byController,
  });
  const adds = new Counter({
    name: 'workqueue_adds_total',
    help: 'Total number of adds handled by workqueue',
    ...byQueue,
  });
  const retries = new Counter({
    name: 'workqueue_retries_total',
    help: 'Total number of retries handled by workqueue',
    ...byQueue,
  });
  const queueDuration = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long in seconds an item stays in workqueue before being requested',
    buckets: QUEUE_BUCKETS,
    ...byQueue,
  });
  const workDuration = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long in seconds processing an item from workqueue takes',
    buckets: QUEUE_BUCKETS,
    ...byQueue,
  });
  registerLoad(registry, queues);

  return {
    observe(controller, workers) {
      const queue = { name: controller, controller };
      for (const result of RESULTS) reconciles.inc({ controller, result }, 0);
      for (const counter of [errors, terminalErrors, panics]) counter.inc({ controller }, 0);
      for (const counter of [adds, retries]) counter.inc(queue, 0);
      maxConcurrent.set({ controller }, workers);
      return {
        added: () => adds.inc(queue),
        begun: (waitedMs) => queueDuration.observe(queue, waitedMs / 1000),
        ended(result, workedMs) {
          workDuration.observe(queue, workedMs / 1000);
          reconcileTime.observe({ controller }, workedMs / 1000);
          reconciles.inc({ controller, result: labelOf(result) });
          if (labelOf(result) === 'error') errors.inc({ controller });
          if (!('failed' in result) && result.stalled === true) terminalErrors.inc({ controller });
          if ('failed' in result) retries.inc(queue);
          if ('failed' in result && result.isBug === true) panics.inc({ controller });
        },
      };
    },
    follow: (controller, queue) => void queues.set(controller, queue),
  };
}

function labelOf(result: WorkResult): (typeof RESULTS)[number] {
  if ('failed' in result || result.stalled === true) return 'error';
  return result.requeueAfterMs === undefined ? 'success' : 'requeue_after';
}

/** Gauges that are worked out when they are read. */
function registerLoad(registry: Registry, queues: ReadonlyMap<string, Pick<WorkQueue, 'load'>>): void {
  const labelNames = ['name', 'controller'] as const;
  const registers = [registry];
  const runningSeconds = (queue: Pick<WorkQueue, 'load'>) => queue.load().runningForMs.map((ms) => ms / 1000);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

  new Gauge({
    name: 'controller_runtime_active_workers',
    help: 'Number of currently used workers per controller',
    labelNames: ['controller'] as const,
    registers,
    collect() {
      for (const [controller, queue] of queues) this.set({ controller }, queue.load().runningForMs.length);
    },
  });
  new Gauge({
    name: 'workqueue_depth',
    help: 'Current depth of workqueue by workqueue and priority',
    labelNames: [...labelNames, 'priority'] as const,
    registers,
    collect() {
      for (const [name, queue] of queues) {
        const { waiting } = queue.load();
        for (const priority of PRIORITIES) {
          this.set({ name, controller: name, priority: PRIORITY_LABELS[priority] }, waiting[priority]);
        }
      }
    },
  });
  new Gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'How many seconds of work have been done that are in progress and not observed by work_duration',
    labelNames,
    registers,
    collect() {
      for (const [name, queue] of queues) this.set({ name, controller: name }, sum(runningSeconds(queue)));
    },
  });
  new Gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How many seconds the longest running processor for workqueue has been running',
    labelNames,
    registers,
    collect() {
      for (const [name, queue] of queues) this.set({ name, controller: name }, Math.max(0, ...runningSeconds(queue)));
    },
  });
}
