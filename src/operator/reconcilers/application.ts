import { provideKeys, secretNameOf } from '../application-keys.ts';
import { ready, stalled } from '../conditions.ts';
import { buildApplicationDeclaration } from '../declarations/application.ts';
import type { DriftWatch } from '../drift-watch.ts';
import type { ApplicationResource } from '../kinds/application.ts';
import { refOf } from '../kinds/resources.ts';
import { formerPlace, placeOf } from '../placement.ts';
import type { Placement } from '../placement.ts';
import { resolveRules } from '../rule-resolution.ts';
import type { ResolvedRules } from '../rule-resolution.ts';
import type { StatusWriter } from '../status-writer.ts';
import type { ReconcileContext, Reconciler, Reconciliation } from './types.ts';

/** Declares applications with their rules and keys, and keeps their Secrets. */
export class ApplicationReconciler implements Reconciler<'Application'> {
  readonly #context: ReconcileContext;
  readonly #statusWriter: StatusWriter;
  readonly #drift: DriftWatch;

  constructor(context: ReconcileContext, statusWriter: StatusWriter, drift: DriftWatch) {
    this.#context = context;
    this.#statusWriter = statusWriter;
    this.#drift = drift;
  }

  async reconcile(application: ApplicationResource): Promise<Reconciliation<'Application'>> {
    const placement = placeOf(this.#context.tenants, application);
    if ('outcome' in placement) return placement;
    const { place } = placement;

    const { expiresAt } = application.spec;
    // The API deletes what has expired: declaring it again would bring it back.
    if (this.#hasExpired(expiresAt)) return { outcome: stalled('Expired', `Expired at ${expiresAt}`) };

    await this.#leaveFormerPlace(application, place);
    await this.#leaveFormerSecret(application);
    await this.#prepareCleaningUp(application, place);

    const provided = await provideKeys(this.#context, application, place);
    if (provided.outcome !== undefined) return provided;

    const resolved = this.#resolveRules(application);
    const declaration = buildApplicationDeclaration(application, resolved.rules, provided.keys);
    const answer = await this.#context.api.putApplication(place.tenant.id, place.id, declaration);
    this.#drift.noticed(refOf<'Application'>(application), declaration, answer);

    return {
      outcome: ready('The API holds this application'),
      status: {
        accessRules: resolved.accessRules
          .map(({ metadata }) => ({ name: metadata.name, generation: metadata.generation }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      },
      ...this.#nextLook(provided.nextChangeAtMs, expiresAt),
    };
  }

  async finalize({ metadata, status }: ApplicationResource): Promise<void> {
    if (status?.id === undefined || status.tenantId === undefined || status.deletionPolicy === 'Retain') return;
    await this.#context.api.deleteApplication(status.tenantId, status.id);
    if (status.secretName !== undefined) await this.#deleteSecret(metadata, status.secretName);
  }

  #hasExpired(expiresAt: string | undefined): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#context.clock.now();
  }

  #resolveRules(application: ApplicationResource): ResolvedRules {
    return resolveRules(application, this.#context.store.list('AccessRule', application.metadata.namespace));
  }

  async #leaveFormerPlace(application: ApplicationResource, place: Placement): Promise<void> {
    const former = formerPlace(application, place);
    if (former === undefined || application.status?.deletionPolicy === 'Retain') return;
    await this.#context.api.deleteApplication(former.tenantId, former.id);
  }

  async #leaveFormerSecret(application: ApplicationResource): Promise<void> {
    const former = application.status?.secretName;
    if (former !== undefined && former !== secretNameOf(application)) {
      await this.#deleteSecret(application.metadata, former);
    }
  }

  async #deleteSecret({ namespace, name }: ApplicationResource['metadata'], secretName: string): Promise<void> {
    const secret = await this.#context.source.readOwnedSecret(namespace, secretName);
    const isOurs = secret !== undefined && secret !== 'foreign' && secret.owner.name === name;
    if (isOurs) await this.#context.source.deleteOwnedSecret(namespace, secretName);
  }

  async #prepareCleaningUp(application: ApplicationResource, { tenant, id }: Placement): Promise<void> {
    await this.#context.source.setFinalizer(refOf<'Application'>(application), true);
    await this.#statusWriter.writeFields<'Application'>(application, {
      id,
      tenantId: tenant.id,
      secretName: secretNameOf(application),
      deletionPolicy: application.spec.deletionPolicy,
    });
  }

  #nextLook(nextChangeAtMs: number | undefined, expiresAt: string | undefined): { requeueAfterMs?: number } {
    const moments = [nextChangeAtMs, expiresAt && Date.parse(expiresAt)].filter((at) => typeof at === 'number');
    if (moments.length === 0) return {};
    return { requeueAfterMs: Math.max(Math.min(...moments) - this.#context.clock.now(), 0) };
  }
}
