import type { TenantSettings, TenantType } from '../../domain/tenants.ts';
import type { CustomResource, ResourceStatus } from '../sources/types.ts';

/** As crds/tenants.yaml says, with defaults filled in. */
export interface TenantSpec {
  type: TenantType;
  quotas: { tokenize: number; detokenize: number; logRetention: string; cvcRetention: string };
  settings: TenantSettings;
  namespaces?: { matchNames: string[] };
  deletionPolicy: DeletionPolicy;
}

/** What becomes of an object of the API once its resource is deleted. */
export type DeletionPolicy = 'Delete' | 'Retain';

export interface TenantStatus extends ResourceStatus {
  id?: string;
  deletionPolicy?: DeletionPolicy;
}

export type TenantResource = CustomResource<'Tenant', TenantSpec, TenantStatus>;
