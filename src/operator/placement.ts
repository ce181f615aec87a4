import { DEFAULT_TENANT } from '../domain/declarations.ts';
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
  { kind, metadata, status }: ApplicationResource | ReactorResource,
): { place: Placement } | { outcome: Outcome } {
  const tenant = tenants.tenantOf(metadata.namespace);
  if (tenant === undefined || !tenants.isDeclared(tenant.id)) {
    const message = `Waits for the tenant of namespace ${metadata.namespace}`;
    return { outcome: waiting('TenantNotReady', message) };
  }
  if (isOrphaned(tenant, status)) {
    return { outcome: waiting('TenantNotReady', orphaned(metadata.namespace, status.tenantId)) };
  }
  const id = resourceIdFor(tenant.id, kind, metadata);
  return id === undefined ? { outcome: stalled('IdNotValid', ID_NOT_VALID) } : { place: { tenant, id } };
}

/**
 * Whether the resource was declared in a tenant that no longer has its namespace, and no other asks for that. It stays
 * where it is: a key that was made for one tenant must not open another because a Tenant or a label is gone.
 */
function isOrphaned(
  { id, isFallback }: TenantOfNamespace,
  status: { tenantId?: string } | undefined,
): status is { tenantId: string } {
  return isFallback && status?.tenantId !== undefined && status.tenantId !== id;
}

function orphaned(namespace: string, tenantId: string): string {
  return (
    `Namespace ${namespace} has lost tenant ${tenantId}: waits until a Tenant asks for it. ` +
    `To move to tenant ${DEFAULT_TENANT}, name it in spec.namespaces.matchNames of Tenant ${DEFAULT_TENANT}`
  );
}
