import { DEFAULT_TENANT } from '../domain/declarations.ts';
import { KubernetesError } from '../platform/kubernetes/errors.ts';
import type { Logger } from '../platform/logger.ts';
import type { CleanedResources } from './cleaned-resources.ts';
import { conditionsOf, pausedConditions, stalled, waiting } from './conditions.ts';
import type { Outcome } from './conditions.ts';
import type { DriftWatch } from './drift-watch.ts';
import { isPaused } from './identity.ts';
import { InternalApiError } from './internal-client.ts';
import { isDeleting, refOf } from './kinds/resources.ts';
import type { AnyResource } from './kinds/resources.ts';
import { refKey, renderRef } from './object-ref.ts';
import { createPassingFailures, isConflict } from './passing-failures.ts';
import type { WorkResult } from './queue.ts';
import type { TenantReconciler } from './reconcilers/tenant.ts';
import type { Reconciler, Reconciliation } from './reconcilers/types.ts';
import type { ObjectRef, ResourceKind, ResourceSource } from './sources/types.ts';
import type { StatusWriter } from './status-writer.ts';
import type { ResourceStore } from './store.ts';

/** The key of the tenant that is declared whether or not a resource declares it. */
export const DEFAULT_TENANT_KEY = refKey({ kind: 'Tenant', namespace: '', name: DEFAULT_TENANT });

/** What the language throws where a program is wrong. */
const BUGS = [TypeError, ReferenceError, RangeError, SyntaxError];

export interface ControllerOptions {
  store: ResourceStore;
  source: ResourceSource;
  statusWriter: StatusWriter;
  drift: DriftWatch;
  cleaned: CleanedResources;
  reconcilers: { [Kind in ResourceKind]: Reconciler<Kind> } & { Tenant: TenantReconciler };
  logger: Logger;
  /** Whether the API is known to be away, so that to miss an answer of it is no news. */
  isApiAway: () => boolean;
  /** Told where the API does not know the tenant of a namespace, although it took it before. */
  tenantMissing: (namespace: string) => void;
}

/** Works on one resource: hands it to its kind's reconciler and writes down what came of it. */
export class ResourceController {
  readonly #options: ControllerOptions;
  readonly #passing = createPassingFailures();

  constructor(options: ControllerOptions) {
    this.#options = options;
  }

  /** Never rejects: what fails is tried again. */
  async work(key: string): Promise<WorkResult> {
    const [kind = '', namespace = '', name = ''] = key.split('/');
    const resource = this.#options.store.get(kind as ResourceKind, namespace, name);
    const wasAway = this.#options.isApiAway();
    try {
      if (resource === undefined) return await this.#workWithoutResource(key);
      if (isDeleting(resource)) return await this.#finalize(resource, wasAway);
      if (resource.kind !== 'AccessRule' && isPaused(resource.metadata)) return await this.#pause(resource);
      return await this.#reconcile(resource, wasAway);
    } catch (error) {
      if (!isOutage(error)) this.#log(key, error);
      return failure(error);
    }
  }

  async #workWithoutResource(key: string): Promise<WorkResult> {
    this.#passing.forget(key);
    if (key === DEFAULT_TENANT_KEY) await this.#options.reconcilers.Tenant.declareDefault();
    const { cleaned } = this.#options;
    const former = cleaned.toRepeat(key);
    if (former !== undefined) {
      await this.#reconcilerOf(former).finalize(former);
      cleaned.repeated(key);
    }
    return {};
  }

  async #pause(resource: AnyResource): Promise<WorkResult> {
    await this.#options.statusWriter.writeConditions(resource, pausedConditions);
    return {};
  }

  async #finalize(resource: AnyResource, wasAway: boolean): Promise<WorkResult> {
    const ref: ObjectRef<ResourceKind> = refOf(resource);
    this.#options.cleaned.add(resource);
    try {
      await this.#reconcilerOf(resource).finalize(resource);
    } catch (error) {
      if (this.#isShown(resource, error, wasAway)) {
        await this.#writeOutcome(resource, waiting('Deleting', reasonOf(error)));
      }
      return failure(error);
    }
    this.#passing.forget(refKey(ref));
    this.#options.drift.forget(ref);
    await this.#options.source.setFinalizer(ref, false);
    this.#options.logger.info({ resource: renderRef(ref) }, 'Cleaned up after a deleted resource');
    return {};
  }

  async #reconcile(resource: AnyResource, wasAway: boolean): Promise<WorkResult> {
    let reconciliation: Reconciliation<ResourceKind>;
    try {
      reconciliation = await this.#reconcilerOf(resource).reconcile(resource);
    } catch (error) {
      if (this.#isShown(resource, error, wasAway)) await this.#writeFailure(resource, error);
      return isRefusal(error) ? { stalled: true } : failure(error);
    }
    this.#passing.forget(refKey(refOf(resource)));
    const { outcome, status, requeueAfterMs } = reconciliation;
    await this.#writeOutcome(resource, outcome, status);
    return { ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }), stalled: outcome.state === 'stalled' };
  }

  /** Whether a person is told of a failure: of an API that is away, those that found it so, and no more of them. */
  #isShown(resource: AnyResource, error: unknown, wasAway: boolean): boolean {
    const key = refKey(refOf(resource));
    // The API's own answers are in the status.
    if (!(error instanceof InternalApiError)) this.#log(key, error);
    return !this.#passing.note(key, error) && !(wasAway && isOutage(error));
  }

  #log(resource: string, error: unknown): void {
    const level = isConflict(error) ? 'debug' : 'warn';
    this.#options.logger[level]({ resource, error }, 'Could not reconcile a resource');
  }

  async #writeFailure(resource: AnyResource, error: unknown): Promise<void> {
    const message = reasonOf(error);
    if (isRefusal(error)) return this.#writeOutcome(resource, stalled('ApiRefused', message));
    if (lacksTenant(resource, error)) {
      const { namespace } = resource.metadata;
      this.#options.tenantMissing(namespace);
      const lost = `The API has lost the tenant of namespace ${namespace}: waits until it is declared again`;
      return this.#writeOutcome(resource, waiting('TenantNotReady', lost));
    }
    const reason = error instanceof InternalApiError ? 'ApiUnavailable' : 'SourceUnavailable';
    await this.#writeOutcome(resource, waiting(reason, message));
  }

  async #writeOutcome(resource: AnyResource, outcome: Outcome, fields: object = {}): Promise<void> {
    const before = resource.status?.conditions.find(({ type }) => type === 'Ready');
    await this.#options.statusWriter.writeConditions(
      resource,
      (generation, conditions, nowMs) => conditionsOf(outcome, generation, conditions, nowMs),
      fields,
    );
    if (before?.reason === outcome.reason && before.message === outcome.message) return;
    const { reason, message } = outcome;
    if (outcome.state === 'stalled') {
      // Nothing goes on by itself: somebody has to hear of it.
      this.#options.source.recordEvent(refOf(resource), { type: 'Warning', reason, message });
      return;
    }
    const log = { resource: renderRef(refOf(resource)), reason, detail: message };
    this.#options.logger.info(log, outcome.state === 'ready' ? 'Reconciled a resource' : 'Put off a resource');
  }

  #reconcilerOf(resource: AnyResource): Reconciler<ResourceKind> {
    return this.#options.reconcilers[resource.kind];
  }
}

/** Whether the API will answer the same as long as the resource says the same. */
function isRefusal(error: unknown): boolean {
  return error instanceof InternalApiError && error.isTerminal;
}

/** Whether the API has lost the tenant of what was declared, as after a restore: it answers 404 to nothing else. */
function lacksTenant({ kind }: AnyResource, error: unknown): boolean {
  return kind !== 'Tenant' && error instanceof InternalApiError && error.status === 404;
}

function isOutage(error: unknown): boolean {
  return error instanceof InternalApiError && error.isOutage;
}

function failure(error: unknown): WorkResult {
  const retryAfterMs = error instanceof KubernetesError ? error.retryAfterMs : undefined;
  const isBug = BUGS.some((kind) => error instanceof kind);
  return { failed: true, isBug, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Only our own errors are known to hold nothing secret. */
function reasonOf(error: unknown): string {
  const isOurs = error instanceof InternalApiError || error instanceof KubernetesError;
  return isOurs ? error.message : 'Could not read or write beside the API; see the log';
}
