import type { DeclarationChange } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import { followChanges } from './change-follower.ts';
import type { ChangeFollower } from './change-follower.ts';
import { settledWithin, systemTimers } from './timers.ts';
import type { Timers } from './timers.ts';
import { createDriftWatch } from './drift-watch.ts';
import { createInternalClient } from './internal-client.ts';
import { refOf } from './kinds/resources.ts';
import { Manager } from './manager.ts';
import { refKey } from './object-ref.ts';
import { createWorkQueue } from './queue.ts';
import { AccessRuleReconciler } from './reconcilers/access-rule.ts';
import { ApplicationReconciler } from './reconcilers/application.ts';
import { ReactorReconciler } from './reconcilers/reactor.ts';
import { TenantReconciler } from './reconcilers/tenant.ts';
import type { ReconcileContext } from './reconcilers/types.ts';
import { WorkloadReconciler } from './reconcilers/workload.ts';
import { ResourceController } from './resource-controller.ts';
import type { ReactorRuntime } from './runtimes/types.ts';
import type { ResourceSource } from './sources/types.ts';
import { createStatusWriter } from './status-writer.ts';
import { createResourceStore } from './store.ts';
import { createTenantDirectory } from './tenant-directory.ts';

export interface OperatorOptions {
  source: ResourceSource;
  runtime: ReactorRuntime;
  /** Where the internal API listens (`http://127.0.0.1:port`) and the bearer token that it takes. */
  internalApi: { baseUrl: string; token: string };
  /** What applications are told to call: the `base-url` entry of their Secret. */
  publicBaseUrl: string;
  logger: Logger;
  clock?: Timers;
}

export interface Operator {
  /** Resolves once the source is listed and reconciling has begun. */
  start(): Promise<void>;
  /** Resolves once every resource that was there at the start is reconciled, or refused, or waits for another. */
  readonly reconciled: Promise<void>;
  /** Stops reconciling; the runtime goes on until it is stopped itself. */
  stop(): Promise<void>;
}

/** Builds the control plane: resources of `source` are declared to the API, reactors of the API run in `runtime`. */
export function createOperator(options: OperatorOptions): Operator {
  const { source, runtime, publicBaseUrl, logger, clock = systemTimers } = options;
  const api = createInternalClient(options.internalApi);
  const store = createResourceStore();
  const tenants = createTenantDirectory(store);
  const statusWriter = createStatusWriter(source, store, clock);
  const drift = createDriftWatch(source);

  const workloads = new WorkloadReconciler({
    api,
    runtime,
    clock,
    logger,
    stateChanged: (tenantId, reactorId) => {
      const reactor = store.findDeclared('Reactor', tenantId, reactorId);
      if (reactor !== undefined) queue.add(refKey(refOf(reactor)));
    },
  });
  const context: ReconcileContext = {
    store,
    source,
    api,
    tenants,
    clock,
    logger,
    publicBaseUrl,
    runtimeStateOf: (tenantId, reactorId) => workloads.stateOf(tenantId, reactorId),
  };
  const controller = new ResourceController({
    store,
    source,
    statusWriter,
    drift,
    logger,
    reconcilers: {
      Tenant: new TenantReconciler(context, statusWriter, drift, (id) => manager.tenantDeclared(id)),
      Application: new ApplicationReconciler(context, statusWriter, drift),
      AccessRule: new AccessRuleReconciler(context),
      Reactor: new ReactorReconciler(context, statusWriter, drift),
    },
  });
  const queue = createWorkQueue({ work: (key) => controller.work(key), clock });
  const manager = new Manager(store, queue, tenants, clock);

  let isFirstResync = true;
  const react = (change: DeclarationChange) => {
    if (change.kind === 'resync') {
      workloads.resync();
      // The pass that begins once the stream is there covers the first one.
      if (!isFirstResync) manager.reconcileAll();
      isFirstResync = false;
    } else if (change.kind !== 'ping') {
      manager.declarationChanged(change);
      if (change.kind === 'reactor') workloads.reactorsChanged();
    }
  };

  const { promise: reconciled, resolve: markReconciled } = Promise.withResolvers<void>();
  let follower: ChangeFollower | undefined;
  return {
    reconciled,
    async start() {
      await source.start(manager);
      workloads.start();
      follower = followChanges(api, clock, logger, react);
      // Reconciling before the stream is there would miss a change made in between.
      await settledWithin(clock, CONNECT_GRACE_MS, follower.connected);
      await manager.begin();
      void queue.idle().then(markReconciled);
    },
    async stop() {
      manager.stop();
      await follower?.stop();
      const stopped = Promise.all([queue.stop(), workloads.stop()]).then(() => undefined);
      await settledWithin(clock, STOP_GRACE_MS, stopped);
      api.close();
      await stopped;
      await source.stop();
    },
  };
}

// A call may take longer than a program may take to end. Broken off, it is repeated at the next start.
const STOP_GRACE_MS = 4_000;
// Without the API nothing can be declared, but status can tell so.
const CONNECT_GRACE_MS = 5_000;
