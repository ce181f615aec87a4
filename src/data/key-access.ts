import type { AccessRule } from '../domain/access.ts';
import type { ApplicationType } from '../domain/applications.ts';
import type { Permission } from '../domain/permissions.ts';
import type { Quotas, TenantSettings, TenantType } from '../domain/tenants.ts';
import type { Queryable, Statement } from './database.ts';

/** Everything that a presented key decides: its application, and the tenant of that. */
export interface KeyAccess {
  tenantId: string;
  tenantType: TenantType;
  quotas: Quotas;
  settings: TenantSettings;
  keyId: string;
  applicationId: string;
  applicationType: ApplicationType;
  permissions: Permission[];
  rules: AccessRule[];
  /** When the access ends, by its key or its application, whichever is first; null for never. */
  expiresAt: Date | null;
}

// A function of the owner's: before a key is looked up, nobody knows whose rows may be seen.
const FIND_BY_DIGEST: Statement = {
  name: 'find-key-access',
  text: `
    select tenant_id as "tenantId", tenant_type as "tenantType", quotas, settings, key_id as "keyId",
      application_id as "applicationId", application_type as "applicationType", permissions, rules,
      expires_at as "expiresAt"
    from find_key_access(decode($1, 'hex'))`,
};

/** What the key with this digest (SHA-256, lower-case hex) may do; undefined where it is unknown or has expired. */
export async function findKeyAccess(queryable: Queryable, digest: string): Promise<KeyAccess | undefined> {
  const [access] = await queryable.run<KeyAccess>(FIND_BY_DIGEST, [digest]);
  return access;
}
