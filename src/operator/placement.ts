import { stalled, waiting } from './conditions.ts';
import type { Outcome } from './conditions.ts';
import { ID_NOT_VALID, resourceIdFor } from './identity.ts';
import type { ApplicationResource } from './kinds/application.ts';
import type { ReactorResource } from './kinds/reactor.ts';
import type { TenantDirectory, TenantOfNamespace } from './tenant-directory.ts';

/** Where in the API a resource belongs. */
export interface Placement {
  tenant: TenantOfNamespace;
  id: string;
}

/** Finds the place of a resource, or why it has none yet. */
export function placeOf(
  tenants: TenantDirectory,
  { kind, metadata }: ApplicationResource | ReactorResource,
): { place: Placement } | { outcome: Outcome } {
  const tenant = tenants.tenantOf(metadata.namespace);
  if (tenant === undefined || !tenants.isDeclared(tenant.id)) {
    const message = `Waits for the tenant of namespace ${metadata.namespace}`;
    return { outcome: waiting('TenantNotReady', message) };
  }
  const id = resourceIdFor(tenant.id, kind, metadata);
  return id === undefined ? { outcome: stalled('IdNotValid', ID_NOT_VALID) } : { place: { tenant, id } };
}

/** The place that the resource had before, where it is another one now. */
export function formerPlace(
  { status }: ApplicationResource | ReactorResource,
  { tenant, id }: Placement,
): { tenantId: string; id: string } | undefined {
  if (status?.id === undefined || status.tenantId === undefined) return undefined;
  if (status.id === id && status.tenantId === tenant.id) return undefined;
  return { tenantId: status.tenantId, id: status.id };
}
