import type { CustomRateLimit, RateLimitQuota } from '../../domain/rate-limit-quotas.ts';
import type { TenantSettings, TenantType } from '../../domain/tenants.ts';
import type { LabelSelector } from '../label-selector.ts';
import type { CustomResource, ResourceStatus } from '../sources/types.ts';

/** As crds/tenants.yaml says, with defaults filled in. */
export interface TenantSpec {
  type: TenantType;
  quotas: {
    tokenize: number;
    detokenize: number;
    logRetention: string;
    cvcRetention: string;
    rateLimit: RateLimitQuota['plan'];
  };
  /** With the plan `Custom` only. */
  rateLimits?: CustomRateLimit[];
  settings: TenantSettings;
  namespaces?: NamespaceChoice;
  deletionPolicy: DeletionPolicy;
}

/** Which namespaces belong to a tenant: by name, or by their labels. */
export type NamespaceChoice =
  { matchNames: string[]; selector?: never } | { matchNames?: never; selector: LabelSelector };

/** What becomes of an object of the API once its resource is deleted. */
export type DeletionPolicy = 'Delete' | 'Retain';

export interface TenantStatus extends ResourceStatus {
  id?: string;
  deletionPolicy?: DeletionPolicy;
}

export type TenantResource = CustomResource<'Tenant', TenantSpec, TenantStatus>;
