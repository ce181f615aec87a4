import type { Grants } from './access.ts';
import type { ApplicationType } from './applications.ts';
import type { Quotas, TenantSettings, TenantType } from './tenants.ts';

/**
 * Who makes a request, and what bounds it: an application of a tenant, as its key shows, or a session. A session acts
 * in the name of the public application that created it, with the permissions and rules that it has been granted.
 */
export interface Caller extends Grants {
  tenantId: string;
  tenantType: TenantType;
  quotas: Quotas;
  settings: TenantSettings;
  applicationId: string;
  /**
   * The type of that application, which decides about rate limits. A session of it may hold permissions that the type
   * may not.
   */
  applicationType: ApplicationType;
  /** Absent: the application itself. */
  sessionId?: string;
  /**
   * What the key's requests are counted under: its id, or for a key made for one reactor invocation its application's.
   */
  keyId: string;
}
