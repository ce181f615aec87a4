import type { Logger } from '../../platform/logger.ts';
import type { Timers } from '../timers.ts';
import type { Outcome } from '../conditions.ts';
import type { InternalClient } from '../internal-client.ts';
import type { ResourceOf } from '../kinds/resources.ts';
import type { ResourceKind, ResourceSource } from '../sources/types.ts';
import type { ResourceStore } from '../store.ts';
import type { TenantDirectory } from '../tenant-directory.ts';
import type { WorkloadState } from './workload.ts';

/** What reconcilers work with. */
export interface ReconcileContext {
  store: ResourceStore;
  source: ResourceSource;
  api: InternalClient;
  tenants: TenantDirectory;
  clock: Timers;
  logger: Logger;
  /** What applications are told to call. */
  publicBaseUrl: string;
  /** Why no reactor can run, for a person; undefined where they do. */
  noRuntime?: string | undefined;
  /** What keeps code from being checked, for a person; undefined where nothing does, or it is not known. */
  checkerFailure(): string | undefined;
  /** What runs of a reactor; undefined before its first instance was asked for. */
  runtimeStateOf(tenantId: string, reactorId: string): WorkloadState | undefined;
}

/** Fields of a kind's status beside its conditions. */
export type StatusFields<Kind extends ResourceKind> = Omit<
  NonNullable<ResourceOf[Kind]['status']>,
  'conditions' | 'observedGeneration'
>;

export interface Reconciliation<Kind extends ResourceKind> {
  outcome: Outcome;
  /** Merged into the status. */
  status?: StatusFields<Kind>;
  requeueAfterMs?: number;
}

/** Brings the API to what resources of one kind declare. Methods reject where trying again may help. */
export interface Reconciler<Kind extends ResourceKind> {
  reconcile(resource: ResourceOf[Kind]): Promise<Reconciliation<Kind>>;
  /** Cleans up for a resource that is being deleted; reads its status and metadata only. */
  finalize(resource: ResourceOf[Kind]): Promise<void>;
}
