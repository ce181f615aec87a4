import { DEFAULT_TENANT, tenantIdOf } from '../../domain/declarations.ts';
import { ready, stalled } from '../conditions.ts';
import { buildTenantDeclaration, UNDECLARED_DEFAULT_TENANT } from '../declarations/tenant.ts';
import type { DriftWatch } from '../drift-watch.ts';
import { findIdConflict, heldPlace } from '../id-holders.ts';
import { ID_NOT_VALID, tenantIdFor } from '../identity.ts';
import { isRetained, refOf } from '../kinds/resources.ts';
import type { TenantResource } from '../kinds/tenant.ts';
import type { StatusWriter } from '../status-writer.ts';
import type { ReconcileContext, Reconciler, Reconciliation } from './types.ts';

/** Declares tenants, and the tenant `default` where no resource does. */
export class TenantReconciler implements Reconciler<'Tenant'> {
  readonly #context: ReconcileContext;
  readonly #statusWriter: StatusWriter;
  readonly #drift: DriftWatch;
  /** Told of each tenant that the API did not know before. */
  readonly #tenantDeclared: (tenantId: string) => void;

  constructor(
    context: ReconcileContext,
    statusWriter: StatusWriter,
    drift: DriftWatch,
    tenantDeclared: (tenantId: string) => void,
  ) {
    this.#context = context;
    this.#statusWriter = statusWriter;
    this.#drift = drift;
    this.#tenantDeclared = tenantDeclared;
  }

  async reconcile(tenant: TenantResource): Promise<Reconciliation<'Tenant'>> {
    const { api, source, tenants } = this.#context;
    const id = tenantIdFor(tenant.metadata);
    if (id === undefined) return { outcome: stalled('IdNotValid', ID_NOT_VALID) };

    const conflict = findIdConflict(this.#context, tenant, { tenantId: id, id });
    if (conflict !== undefined) return { outcome: conflict };

    const rival = tenants.findRival(tenant);
    if (rival !== undefined) {
      const message = `Namespace ${rival.namespace} belongs to Tenant ${rival.name}`;
      return { outcome: stalled('NamespaceConflict', message) };
    }

    await source.setFinalizer(refOf<'Tenant'>(tenant), true);
    await this.#statusWriter.writeFields<'Tenant'>(tenant, { id, deletionPolicy: tenant.spec.deletionPolicy });
    const declaration = buildTenantDeclaration(tenant);
    this.#drift.noticed(refOf<'Tenant'>(tenant), declaration, await api.putTenant(id, declaration));
    if (tenants.markDeclared(id)) this.#tenantDeclared(id);
    return { outcome: ready('The API holds this tenant') };
  }

  async finalize(tenant: TenantResource): Promise<void> {
    if (tenant.metadata.name === DEFAULT_TENANT) return;
    const place = heldPlace(this.#context, tenant);
    if (place === undefined) return;
    if (!isRetained(tenant)) await this.#context.api.deleteTenant(place.id);
    this.#context.tenants.forget(place.id);
  }

  /** Declares the tenant that namespaces belong to where nothing else is said. */
  async declareDefault(): Promise<void> {
    const id = tenantIdOf(DEFAULT_TENANT);
    await this.#context.api.putTenant(id, UNDECLARED_DEFAULT_TENANT);
    if (this.#context.tenants.markDeclared(id)) this.#tenantDeclared(id);
  }
}
