import type { DeclarationChange } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createApiGate } from './api-gate.ts';
import type { ReplicaDirectory } from './api-replicas.ts';
import { createCleanedResources } from './cleaned-resources.ts';
import { followChanges } from './change-follower.ts';
import type { ChangeFollower } from './change-follower.ts';
import { createControllerMetrics } from './controller-metrics.ts';
import { createControllers } from './controllers.ts';
import { settledWithin, systemTimers } from './timers.ts';
import type { Timers } from './timers.ts';
import { createDriftWatch } from './drift-watch.ts';
import { createInternalClient } from './internal-client.ts';
import type { InternalApiAccess } from './internal-connection.ts';
import { refOf } from './kinds/resources.ts';
import { Manager } from './manager.ts';
import { refKey } from './object-ref.ts';
import { AccessRuleReconciler } from './reconcilers/access-rule.ts';
import { ApplicationReconciler } from './reconcilers/application.ts';
import { ReactorReconciler } from './reconcilers/reactor.ts';
import { TenantReconciler } from './reconcilers/tenant.ts';
import type { ReconcileContext } from './reconcilers/types.ts';
import { WorkloadReconciler } from './reconcilers/workload.ts';
import { ResourceController } from './resource-controller.ts';
import { registerReplicaMetrics } from './replica-metrics.ts';
import { registerResourceMetrics } from './resource-metrics.ts';
import type { ReactorRuntime } from './runtimes/types.ts';
import type { ResourceSource } from './sources/types.ts';
import { createStatusWriter } from './status-writer.ts';
import { createResourceStore } from './store.ts';
import { createTenantDirectory } from './tenant-directory.ts';

export interface OperatorOptions {
  source: ResourceSource;
  runtime: ReactorRuntime;
  internalApi: InternalApiAccess;
  /** Where the replicas of the API are; absent: there is one, as `internalApi` names it. */
  apiReplicas?: ReplicaDirectory | undefined;
  /** What applications are told to call: the `base-url` entry of their Secret. */
  publicBaseUrl: string;
  logger: Logger;
  clock?: Timers;
  /** Resources of one kind worked on at the same time. Default 8. */
  workers?: number;
  metrics?: Metrics;
}

export interface Operator {
  /** Resolves once the source is listed and reconciling has begun, or once it is stopped before. */
  start(): Promise<void>;
  /** Resolves once every resource that was there at the start is reconciled, or refused, or waits for another. */
  readonly reconciled: Promise<void>;
  /** Stops reconciling; the runtime goes on until it is stopped itself. */
  stop(): Promise<void>;
}

/** Builds the control plane: resources of `source` are declared to the API, reactors of the API run in `runtime`. */
export function createOperator(options: OperatorOptions): Operator {
  const { source, runtime, publicBaseUrl, logger, clock = systemTimers, workers, metrics } = options;
  const api = createInternalClient({
    ...options.internalApi,
    observer: { answered: () => gate.answered(), unanswered: () => gate.unanswered() },
  });
  const store = createResourceStore();
  const tenants = createTenantDirectory(store, source);
  const statusWriter = createStatusWriter(source, store, clock);
  const drift = createDriftWatch(source);
  const cleaned = createCleanedResources();

  const workloads = new WorkloadReconciler({
    api,
    access: options.internalApi,
    directory: options.apiReplicas,
    runtime,
    clock,
    logger,
    stateChanged: (tenantId, reactorId) => {
      for (const reactor of store.listDeclared('Reactor', tenantId, reactorId)) controllers.add(refKey(refOf(reactor)));
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
    noRuntime: runtime.nowhere,
    checkerFailure: () => runtime.checkerFailure?.(),
    runtimeStateOf: (tenantId, reactorId) => workloads.stateOf(tenantId, reactorId),
  };
  const controller = new ResourceController({
    store,
    source,
    statusWriter,
    drift,
    cleaned,
    logger,
    isApiAway: () => !gate.isOpen,
    tenantMissing: (namespace) => manager.tenantMissing(namespace),
    reconcilers: {
      Tenant: new TenantReconciler(context, statusWriter, drift, (id) => manager.tenantDeclared(id)),
      Application: new ApplicationReconciler(context, statusWriter, drift),
      AccessRule: new AccessRuleReconciler(context),
      Reactor: new ReactorReconciler(context, statusWriter, drift),
    },
  });
  const controllers = createControllers({
    work: (key) => controller.work(key),
    clock,
    workers,
    metrics: metrics && createControllerMetrics(metrics.registry),
  });
  const { Tenant, Application, AccessRule, Reactor } = controllers.queues;
  const gate = createApiGate({
    probing: [Tenant, Application, Reactor],
    waiting: [AccessRule, workloads],
    ...{ clock, logger },
  });
  if (metrics !== undefined) {
    registerResourceMetrics(metrics.registry, store);
    registerReplicaMetrics(metrics.registry, workloads);
  }
  const manager = new Manager(store, controllers, tenants, clock, cleaned);

  let isFirstResync = true;
  const react = (change: DeclarationChange) => {
    if (change.kind === 'resync') {
      gate.hint();
      workloads.resync();
      // The pass that begins once the stream is there covers the first one.
      if (!isFirstResync) manager.declarationsMissed();
      isFirstResync = false;
    } else if (change.kind === 'demand') {
      workloads.demandRose();
    } else if (change.kind !== 'ping') {
      manager.declarationChanged(change);
      if (change.kind === 'reactor') workloads.reactorChanged({ tenantId: change.tenantId, reactorId: change.id });
    }
  };

  const { promise: reconciled, resolve: markReconciled } = Promise.withResolvers<void>();
  const { promise: stopping, resolve: markStopping } = Promise.withResolvers<void>();
  let isStopped = false;
  let follower: ChangeFollower | undefined;
  return {
    reconciled,
    async start() {
      try {
        await source.start(manager);
      } catch (error) {
        // A source that is stopped while it lists says so.
        if (!isStopped) throw error;
      }
      if (isStopped) return;
      workloads.start();
      follower = followChanges(api, clock, logger, react);
      // Reconciling before the stream is there would miss a change made in between.
      await settledWithin(clock, CONNECT_GRACE_MS, Promise.race([follower.connected, stopping]));
      if (isStopped) return;
      await manager.begin();
      void controllers.idle().then(() => {
        if (!isStopped) markReconciled();
      });
    },
    async stop() {
      isStopped = true;
      markStopping();
      manager.stop();
      gate.stop();
      await follower?.stop();
      const stopped = Promise.all([controllers.stop(), workloads.stop()]).then(() => undefined);
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
