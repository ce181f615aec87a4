import { DEFAULT_TENANT, tenantIdOf } from '../domain/declarations.ts';
import type { TenantType } from '../domain/tenants.ts';
import { findIdConflict } from './id-holders.ts';
import { tenantIdFor } from './identity.ts';
import { isDeleting } from './kinds/resources.ts';
import type { TenantResource } from './kinds/tenant.ts';
import { createNamespaceOwners } from './namespace-owners.ts';
import type { NamespaceOwners } from './namespace-owners.ts';
import type { ResourceStore } from './store.ts';

/** The tenant that a namespace belongs to. */
export interface TenantOfNamespace {
  id: string;
  name: string;
  type: TenantType;
  /** Whether no Tenant asks for the namespace: it is of the tenant `default` for want of another. */
  isFallback: boolean;
}

/** Which tenant a namespace belongs to, and whether the API knows that tenant yet. */
export interface TenantDirectory extends Pick<NamespaceOwners, 'findRival' | 'namespaceChanged'> {
  /** Undefined where that cannot be told yet, or where the tenant's id is not valid or another Tenant's. */
  tenantOf(namespace: string): TenantOfNamespace | undefined;
  /** To be called whenever the store holds other Tenants than before, or other versions of them. */
  tenantsChanged(): void;
  isDeclared(tenantId: string): boolean;
  /** True where the API did not know it before. */
  markDeclared(tenantId: string): boolean;
  forget(tenantId: string): void;
}

export interface TenantDirectoryOptions {
  /** Whether namespaces need not be declared: see `ResourceSource`. */
  hasImplicitNamespaces?: boolean;
}

export function createTenantDirectory(store: ResourceStore, options: TenantDirectoryOptions = {}): TenantDirectory {
  const declared = new Set<string>();
  const tenants = () => store.list('Tenant').filter((tenant) => !isDeleting(tenant));
  const owners = createNamespaceOwners(tenants, options.hasImplicitNamespaces ?? false);

  function defaultTenant(): TenantResource | undefined {
    const tenant = store.get('Tenant', '', DEFAULT_TENANT);
    return tenant === undefined || isDeleting(tenant) ? undefined : tenant;
  }

  const isOfAnother = (tenant: TenantResource, id: string) =>
    findIdConflict({ store, tenants: directory }, tenant, { tenantId: id, id }) !== undefined;

  const directory: TenantDirectory = {
    tenantOf(namespace) {
      const asking = owners.ownerOf(namespace);
      if (asking === 'unknown') return undefined;
      const owner = asking ?? defaultTenant();
      const isFallback = asking === undefined;
      if (owner === undefined) {
        return { id: tenantIdOf(DEFAULT_TENANT), name: DEFAULT_TENANT, type: 'production', isFallback };
      }
      const id = tenantIdFor(owner.metadata);
      if (id === undefined || isOfAnother(owner, id)) return undefined;
      return { id, name: owner.metadata.name, type: owner.spec.type, isFallback };
    },
    findRival: (tenant) => owners.findRival(tenant),
    tenantsChanged: () => owners.tenantsChanged(),
    namespaceChanged: (namespace, labels) => owners.namespaceChanged(namespace, labels),
    isDeclared: (tenantId) => declared.has(tenantId),
    markDeclared(tenantId) {
      const isNew = !declared.has(tenantId);
      declared.add(tenantId);
      return isNew;
    },
    forget: (tenantId) => void declared.delete(tenantId),
  };
  return directory;
}
