import { DEFAULT_TENANT, tenantIdOf } from '../domain/declarations.ts';
import type { TenantType } from '../domain/tenants.ts';
import { tenantIdFor } from './identity.ts';
import { bySeniority, isDeleting } from './kinds/resources.ts';
import type { TenantResource } from './kinds/tenant.ts';
import type { ResourceStore } from './store.ts';

/** The tenant that a namespace belongs to. */
export interface TenantOfNamespace {
  id: string;
  name: string;
  type: TenantType;
}

/** Which tenant a namespace belongs to, and whether the API knows that tenant yet. */
export interface TenantDirectory {
  tenantOf(namespace: string): TenantOfNamespace | undefined;
  /** The elder tenant that has a namespace which this one names too. */
  findRival(tenant: TenantResource): { namespace: string; name: string } | undefined;
  isDeclared(tenantId: string): boolean;
  /** True where the API did not know it before. */
  markDeclared(tenantId: string): boolean;
  forget(tenantId: string): void;
}

export function createTenantDirectory(store: ResourceStore): TenantDirectory {
  const declared = new Set<string>();
  const tenants = () => store.list('Tenant').filter((tenant) => !isDeleting(tenant));
  const ownerOf = (namespace: string) =>
    tenants()
      .filter(({ spec }) => spec.namespaces?.matchNames.includes(namespace))
      .sort(bySeniority)[0];

  return {
    tenantOf(namespace) {
      const owner = ownerOf(namespace) ?? tenants().find(({ metadata }) => metadata.name === DEFAULT_TENANT);
      if (owner === undefined) return { id: tenantIdOf(DEFAULT_TENANT), name: DEFAULT_TENANT, type: 'production' };
      const id = tenantIdFor(owner.metadata);
      return id === undefined ? undefined : { id, name: owner.metadata.name, type: owner.spec.type };
    },
    findRival(tenant) {
      for (const namespace of tenant.spec.namespaces?.matchNames ?? []) {
        const name = ownerOf(namespace)?.metadata.name;
        if (name !== undefined && name !== tenant.metadata.name) return { namespace, name };
      }
      return undefined;
    },
    isDeclared: (tenantId) => declared.has(tenantId),
    markDeclared(tenantId) {
      const isNew = !declared.has(tenantId);
      declared.add(tenantId);
      return isNew;
    },
    forget: (tenantId) => void declared.delete(tenantId),
  };
}
