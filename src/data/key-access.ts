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

const COLUMNS = `
  t.tenant_id as "tenantId", t.type as "tenantType", t.quotas, t.settings,
  a.application_id as "applicationId", a.type as "applicationType", a.permissions, a.rules`;

// least() passes over nulls.
const FIND_BY_DIGEST: Statement = {
  name: 'find-key-access',
  text: `
    select ${COLUMNS}, k.key_id as "keyId", least(k.expires_at, a.expires_at) as "expiresAt"
    from application_keys k
    join applications a on a.tenant_id = k.tenant_id and a.application_id = k.application_id
    join tenants t on t.tenant_id = k.tenant_id
    where k.digest = decode($1, 'hex')
      and (k.expires_at is null or k.expires_at > now())
      and (a.expires_at is null or a.expires_at > now())`,
};

/** What the key with this digest (SHA-256, lower-case hex) may do; undefined where it is unknown or has expired. */
export async function findKeyAccess(queryable: Queryable, digest: string): Promise<KeyAccess | undefined> {
  const [access] = await queryable.run<KeyAccess>(FIND_BY_DIGEST, [digest]);
  return access;
}
