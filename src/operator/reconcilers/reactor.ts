import { ready, stalled, waiting } from '../conditions.ts';
import type { Outcome } from '../conditions.ts';
import { buildReactorDeclaration } from '../declarations/reactor.ts';
import type { DriftWatch } from '../drift-watch.ts';
import { findIdConflict, placeToLeave } from '../id-holders.ts';
import { InternalApiError } from '../internal-client.ts';
import type { ReactorResource } from '../kinds/reactor.ts';
import { isRetained, refOf } from '../kinds/resources.ts';
import { placeOf } from '../placement.ts';
import type { Placement } from '../placement.ts';
import { gatherReactorParts } from '../reactor-parts.ts';
import type { StatusWriter } from '../status-writer.ts';
import type { FailureReason } from '../runtimes/types.ts';
import type { ReconcileContext, Reconciler, Reconciliation, StatusFields } from './types.ts';
import type { WorkloadState } from './workload.ts';

/** How long a reactor waits whose code nothing can check, in ms. */
const AGAIN_MS = 10_000;

/** Declares reactors. What runs of them follows the API's own list: see the workload reconciler. */
export class ReactorReconciler implements Reconciler<'Reactor'> {
  readonly #context: ReconcileContext;
  readonly #statusWriter: StatusWriter;
  readonly #drift: DriftWatch;

  constructor(context: ReconcileContext, statusWriter: StatusWriter, drift: DriftWatch) {
    this.#context = context;
    this.#statusWriter = statusWriter;
    this.#drift = drift;
  }

  async reconcile(reactor: ReactorResource): Promise<Reconciliation<'Reactor'>> {
    const placement = placeOf(this.#context.tenants, reactor);
    if ('outcome' in placement) return placement;
    const { place } = placement;
    const conflict = findIdConflict(this.#context, reactor, { tenantId: place.tenant.id, id: place.id });
    if (conflict !== undefined) return { outcome: conflict };

    const { noRuntime } = this.#context;
    // Secrets are read for what can run alone.
    if (noRuntime !== undefined) return { outcome: waiting('NoRuntime', noRuntime) };

    const gathered = await gatherReactorParts(this.#context, reactor);
    if (gathered.outcome !== undefined) return gathered;

    await this.#leaveFormerPlace(reactor, place);
    await this.#prepareCleaningUp(reactor, place);

    const declaration = buildReactorDeclaration(reactor, gathered.part);
    try {
      const answer = await this.#context.api.putReactor(place.tenant.id, place.id, declaration);
      this.#drift.noticed(refOf<'Reactor'>(reactor), declaration, answer);
    } catch (error) {
      if (error instanceof InternalApiError && error.status === 422) {
        return { outcome: stalled('CodeRefused', error.message) };
      }
      const failure = this.#context.checkerFailure();
      // What the API says: it cannot have the code checked now. What keeps it from that, the operator knows.
      if (failure !== undefined && error instanceof InternalApiError && error.status === 503) {
        return { outcome: waiting('CheckerFailing', `Code cannot be checked: ${failure}`), requeueAfterMs: AGAIN_MS };
      }
      throw error;
    }
    const state = this.#context.runtimeStateOf(place.tenant.id, place.id);
    return { outcome: judge(reactor, state), status: scaleOf(state) };
  }

  async finalize(reactor: ReactorResource): Promise<void> {
    const place = placeToLeave(this.#context, reactor);
    if (place !== undefined && !isRetained(reactor)) await this.#context.api.deleteReactor(place.tenantId, place.id);
  }

  async #leaveFormerPlace(reactor: ReactorResource, place: Placement): Promise<void> {
    const former = placeToLeave(this.#context, reactor, place);
    if (former !== undefined && !isRetained(reactor)) await this.#context.api.deleteReactor(former.tenantId, former.id);
  }

  async #prepareCleaningUp(reactor: ReactorResource, { tenant, id }: Placement): Promise<void> {
    await this.#context.source.setFinalizer(refOf<'Reactor'>(reactor), true);
    await this.#statusWriter.writeFields<'Reactor'>(reactor, {
      id,
      tenantId: tenant.id,
      deletionPolicy: reactor.spec.deletionPolicy,
    });
  }
}

function scaleOf(state: WorkloadState | undefined): StatusFields<'Reactor'> {
  if (state === undefined) return { replicas: 0 };
  return { replicas: state.ready.length, desiredReplicas: state.desired, engine: state.engine };
}

function judge({ spec }: ReactorResource, state: WorkloadState | undefined): Outcome {
  const replicas = state?.ready.length ?? 0;
  if (state?.failure !== undefined) return failing(state.failure, state.failureReason);
  if (replicas === 0 && state?.desired === 0) {
    return ready('The API holds this reactor; the next call starts an instance', 'ScaledToZero');
  }
  if (replicas === 0 && spec.scaling.minReplicas > 0) {
    return waiting('InstancesStarting', 'Waits for the first instance to answer');
  }
  const answering = replicas === 1 ? '1 instance answers' : `${replicas} instances answer`;
  return ready(`The API holds this reactor; ${answering}`);
}

function failing(failure: string, reason: FailureReason | undefined): Outcome {
  if (reason === 'CodeRefused' || reason === 'Degraded') return stalled(reason, failure);
  return waiting(reason ?? 'InstancesFailing', failure);
}
