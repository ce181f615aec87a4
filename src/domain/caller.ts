import type { Grants } from './access.ts';
import type { ApplicationType } from './applications.ts';
import type { Quotas, TenantSettings, TenantType } from './tenants.ts';

/** Who makes a request, and what bounds it: an application of a tenant, as its key shows. */
export interface Caller extends Grants {
  tenantId: string;
  tenantType: TenantType;
  quotas: Quotas;
  settings: TenantSettings;
  applicationId: string;
  applicationType: ApplicationType;
  /** What the key's requests are counted under: its id, or for a key made for one reactor invocation its application's. */
  keyId: string;
}
