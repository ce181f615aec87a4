import { DEFAULT_TENANT } from '../domain/declarations.ts';
import type { Logger } from '../platform/logger.ts';
import { conditionsOf, pausedConditions, stalled, waiting } from './conditions.ts';
import type { Outcome } from './conditions.ts';
import type { DriftWatch } from './drift-watch.ts';
import { isPaused } from './identity.ts';
import { InternalApiError } from './internal-client.ts';
import { isDeleting, refOf } from './kinds/resources.ts';
import type { AnyResource } from './kinds/resources.ts';
import { refKey, renderRef } from './object-ref.ts';
import type { WorkResult } from './queue.ts';
import type { TenantReconciler } from './reconcilers/tenant.ts';
import type { Reconciler, Reconciliation } from './reconcilers/types.ts';
import type { ObjectRef, ResourceKind, ResourceSource } from './sources/types.ts';
import type { StatusWriter } from './status-writer.ts';
import type { ResourceStore } from './store.ts';

/** The key of the tenant that is declared whether or not a resource declares it. */
export const DEFAULT_TENANT_KEY = refKey({ kind: 'Tenant', namespace: '', name: DEFAULT_TENANT });

export interface ControllerOptions {
  store: ResourceStore;
  source: ResourceSource;
  statusWriter: StatusWriter;
  drift: DriftWatch;
  reconcilers: { [Kind in ResourceKind]: Reconciler<Kind> } & { Tenant: TenantReconciler };
  logger: Logger;
}

/** Works on one resource: hands it to its kind's reconciler and writes down what came of it. */
export class ResourceController {
  readonly #options: ControllerOptions;

  constructor(options: ControllerOptions) {
    this.#options = options;
  }

  /** Never rejects: what fails is tried again. */
  async work(key: string): Promise<WorkResult> {
    const [kind = '', namespace = '', name = ''] = key.split('/');
    const resource = this.#options.store.get(kind as ResourceKind, namespace, name);
    try {
      if (resource === undefined) return await this.#workWithoutResource(key);
      if (isDeleting(resource)) return await this.#finalize(resource);
      if (resource.kind !== 'AccessRule' && isPaused(resource.metadata)) return await this.#pause(resource);
      return await this.#reconcile(resource);
    } catch (error) {
      this.#options.logger.warn({ resource: key, error }, 'Could not reconcile a resource');
      return { failed: true };
    }
  }

  async #workWithoutResource(key: string): Promise<WorkResult> {
    if (key === DEFAULT_TENANT_KEY) await this.#options.reconcilers.Tenant.declareDefault();
    return {};
  }

  async #pause(resource: AnyResource): Promise<WorkResult> {
    await this.#options.statusWriter.writeConditions(resource, pausedConditions);
    return {};
  }

  async #finalize(resource: AnyResource): Promise<WorkResult> {
    const ref: ObjectRef<ResourceKind> = refOf(resource);
    try {
      await this.#reconcilerOf(resource).finalize(resource);
    } catch (error) {
      await this.#writeOutcome(resource, waiting('Deleting', reasonOf(error)));
      return { failed: true };
    }
    this.#options.drift.forget(ref);
    await this.#options.source.setFinalizer(ref, false);
    this.#options.logger.info({ resource: renderRef(ref) }, 'Cleaned up after a deleted resource');
    return {};
  }

  async #reconcile(resource: AnyResource): Promise<WorkResult> {
    let reconciliation: Reconciliation<ResourceKind>;
    try {
      reconciliation = await this.#reconcilerOf(resource).reconcile(resource);
    } catch (error) {
      const isTerminal = error instanceof InternalApiError && error.isTerminal;
      const isApi = error instanceof InternalApiError;
      const message = reasonOf(error);
      if (!isApi) this.#options.logger.warn({ resource: renderRef(refOf(resource)), error }, 'Could not reconcile');
      const failing = waiting(isApi ? 'ApiUnavailable' : 'SourceUnavailable', message);
      await this.#writeOutcome(resource, isTerminal ? stalled('ApiRefused', message) : failing);
      return isTerminal ? {} : { failed: true };
    }
    const { outcome, status, requeueAfterMs } = reconciliation;
    await this.#writeOutcome(resource, outcome, status);
    return requeueAfterMs === undefined ? {} : { requeueAfterMs };
  }

  async #writeOutcome(resource: AnyResource, outcome: Outcome, fields: object = {}): Promise<void> {
    const before = resource.status?.conditions.find(({ type }) => type === 'Ready');
    await this.#options.statusWriter.writeConditions(
      resource,
      (generation, conditions, nowMs) => conditionsOf(outcome, generation, conditions, nowMs),
      fields,
    );
    if (before?.reason === outcome.reason && before.message === outcome.message) return;
    const log = { resource: renderRef(refOf(resource)), reason: outcome.reason, detail: outcome.message };
    if (outcome.state === 'stalled') this.#options.logger.warn(log, 'Stalled until the resource changes');
    else this.#options.logger.info(log, outcome.state === 'ready' ? 'Reconciled a resource' : 'Put off a resource');
  }

  #reconcilerOf(resource: AnyResource): Reconciler<ResourceKind> {
    return this.#options.reconcilers[resource.kind];
  }
}

/** Only our own errors are known to hold nothing secret. */
function reasonOf(error: unknown): string {
  return error instanceof InternalApiError ? error.message : 'Could not read or write beside the API; see the log';
}
