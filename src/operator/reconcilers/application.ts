import { findSecret, provideKeys, secretNameOf } from '../application-keys.ts';
import { ready, stalled } from '../conditions.ts';
import type { Outcome } from '../conditions.ts';
import { buildApplicationDeclaration } from '../declarations/application.ts';
import type { DriftWatch } from '../drift-watch.ts';
import { findIdConflict, placeToLeave } from '../id-holders.ts';
import type { ApplicationResource } from '../kinds/application.ts';
import { isRetained, refOf } from '../kinds/resources.ts';
import { placeOf } from '../placement.ts';
import type { Placement } from '../placement.ts';
import { resolveRules, rulesFor } from '../rule-resolution.ts';
import type { ResolvedRules } from '../rule-resolution.ts';
import type { StoredSecret } from '../sources/types.ts';
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
    const conflict = findIdConflict(this.#context, application, { tenantId: place.tenant.id, id: place.id });
    if (conflict !== undefined) return { outcome: conflict };

    const { expiresAt } = application.spec;
    // The API deletes what has expired: declaring it again would bring it back.
    if (this.#hasExpired(expiresAt)) return { outcome: stalled('Expired', `Expired at ${expiresAt}`) };

    const obstacle = await this.#leaveFormerSecret(application);
    if (obstacle !== undefined) return { outcome: obstacle };
    await this.#leaveFormerPlace(application, place);
    await this.#prepareCleaningUp(application, place);

    const provided = await provideKeys(this.#context, application, place);
    if (provided.outcome !== undefined) return { ...provided, status: { binding: undefined } };

    const resolved = this.#resolveRules(application);
    const declaration = buildApplicationDeclaration(application, resolved.rules, provided.keys);
    const answer = await this.#context.api.putApplication(place.tenant.id, place.id, declaration);
    this.#drift.noticed(refOf<'Application'>(application), declaration, answer);

    return {
      outcome: ready('The API holds this application'),
      status: {
        binding: bindingOf(application),
        accessRules: resolved.accessRules
          .map(({ metadata: { name, uid, generation } }) => ({ name, uid, generation }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      },
      ...this.#nextLook(provided.nextChangeAtMs, expiresAt),
    };
  }

  async finalize(application: ApplicationResource): Promise<void> {
    const secretName = application.status?.secretName;
    if (isRetained(application)) {
      if (secretName !== undefined) await this.#releaseSecret(application, secretName);
      return;
    }
    const place = placeToLeave(this.#context, application);
    if (place !== undefined) await this.#context.api.deleteApplication(place.tenantId, place.id);
    if (secretName !== undefined) await this.#deleteSecret(application, secretName);
  }

  #hasExpired(expiresAt: string | undefined): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#context.clock.now();
  }

  #resolveRules(application: ApplicationResource): ResolvedRules {
    return resolveRules(application, rulesFor(this.#context.store, application));
  }

  async #leaveFormerPlace(application: ApplicationResource, place: Placement): Promise<void> {
    const former = placeToLeave(this.#context, application, place);
    if (former === undefined) return;
    const { api } = this.#context;
    // Its key comes along: it must not open both, and the API takes no key twice.
    if (isRetained(application)) await api.revokeDeclaredKeys(former.tenantId, former.id);
    else await api.deleteApplication(former.tenantId, former.id);
  }

  /** Answers why the Secret cannot have its new name; the former one stays then. */
  async #leaveFormerSecret(application: ApplicationResource): Promise<Outcome | undefined> {
    const former = application.status?.secretName;
    const next = secretNameOf(application);
    if (former === undefined || former === next) return undefined;
    if (next !== undefined) {
      const { outcome } = await findSecret(this.#context.source, application, next);
      if (outcome !== undefined) return outcome;
    }
    await this.#deleteSecret(application, former);
    return undefined;
  }

  async #deleteSecret(application: ApplicationResource, secretName: string): Promise<void> {
    const secret = await this.#readOwnSecret(application, secretName);
    if (secret !== undefined) await this.#context.source.deleteOwnedSecret(secret);
  }

  /** The policy may be newer than the Secret: garbage collection would take it with its owner. */
  async #releaseSecret(application: ApplicationResource, secretName: string): Promise<void> {
    const secret = await this.#readOwnSecret(application, secretName);
    if (secret === undefined || secret.isRetained) return;
    await this.#context.source.writeOwnedSecret({ ...secret, isRetained: true }, secret);
  }

  async #readOwnSecret(application: ApplicationResource, secretName: string): Promise<StoredSecret | undefined> {
    const found = await findSecret(this.#context.source, application, secretName);
    return found.outcome === undefined ? found.secret : undefined;
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

/** Where the Service Binding specification looks for the Secret to bind; one that was brought is not for others. */
function bindingOf(application: ApplicationResource): { name: string } | undefined {
  const name = secretNameOf(application);
  return name === undefined ? undefined : { name };
}
