import type { ControllerMetrics } from './controller-metrics.ts';
import { createWorkQueue, DEFAULT_WORKERS } from './queue.ts';
import type { WorkQueue, WorkResult } from './queue.ts';
import { RESOURCE_KINDS } from './sources/types.ts';
import type { ResourceKind } from './sources/types.ts';
import type { Timers } from './timers.ts';

export interface ControllersOptions {
  /** Works on the resource of a key, whatever its kind. Must not reject. */
  work: (key: string) => Promise<WorkResult>;
  clock: Timers;
  /** Resources of one kind worked on at the same time. Default 8. */
  workers?: number | undefined;
  metrics?: ControllerMetrics | undefined;
}

/** One queue for each kind of resource, so that none waits behind the mass of another. */
export interface Controllers extends Pick<WorkQueue, 'add' | 'idle' | 'stop'> {
  readonly queues: Readonly<Record<ResourceKind, WorkQueue>>;
}

export function createControllers({
  work,
  clock,
  workers = DEFAULT_WORKERS,
  metrics,
}: ControllersOptions): Controllers {
  const createQueue = (kind: ResourceKind): WorkQueue => {
    const controller = kind.toLowerCase();
    const observer = metrics?.observe(controller, workers);
    const queue = createWorkQueue({ work, clock, workers, ...(observer === undefined ? {} : { observer }) });
    metrics?.follow(controller, queue);
    return queue;
  };
  const queues: Record<ResourceKind, WorkQueue> = {
    Tenant: createQueue('Tenant'),
    Application: createQueue('Application'),
    AccessRule: createQueue('AccessRule'),
    Reactor: createQueue('Reactor'),
  };
  const all = RESOURCE_KINDS.map((kind) => queues[kind]);

  return {
    queues,
    add(key, priority) {
      queues[key.slice(0, key.indexOf('/')) as ResourceKind].add(key, priority);
    },
    async idle() {
      // What is done in one may give another something to do.
      while (!all.every(({ isIdle }) => isIdle)) await Promise.all(all.map((queue) => queue.idle()));
    },
    async stop() {
      await Promise.all(all.map((queue) => queue.stop()));
    },
  };
}
