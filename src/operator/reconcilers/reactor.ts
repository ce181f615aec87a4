import { ready, stalled, waiting } from '../conditions.ts';
import type { Outcome } from '../conditions.ts';
import { buildReactorDeclaration } from '../declarations/reactor.ts';
import type { DriftWatch } from '../drift-watch.ts';
import { InternalApiError } from '../internal-client.ts';
import type { ReactorResource } from '../kinds/reactor.ts';
import { refOf } from '../kinds/resources.ts';
import { formerPlace, placeOf } from '../placement.ts';
import type { Placement } from '../placement.ts';
import { gatherReactorParts } from '../reactor-parts.ts';
import type { StatusWriter } from '../status-writer.ts';
import type { ReconcileContext, Reconciler, Reconciliation } from './types.ts';

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
      throw error;
    }
    const state = this.#context.runtimeStateOf(place.tenant.id, place.id);
    const replicas = state?.ready.length ?? 0;
    return { outcome: judge(reactor, state?.failure, replicas), status: { replicas } };
  }

  async finalize({ status }: ReactorResource): Promise<void> {
    if (status?.id === undefined || status.tenantId === undefined || status.deletionPolicy === 'Retain') return;
    await this.#context.api.deleteReactor(status.tenantId, status.id);
  }

  async #leaveFormerPlace(reactor: ReactorResource, place: Placement): Promise<void> {
    const former = formerPlace(reactor, place);
    if (former === undefined || reactor.status?.deletionPolicy === 'Retain') return;
    await this.#context.api.deleteReactor(former.tenantId, former.id);
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

function judge({ spec }: ReactorResource, failure: string | undefined, replicas: number): Outcome {
  if (failure !== undefined) return waiting('InstancesFailing', failure);
  if (replicas === 0 && spec.scaling.minReplicas > 0) {
    return waiting('InstancesStarting', 'Waits for the first instance to answer');
  }
  return ready(`The API holds this reactor; ${replicas} instances answer`);
}
