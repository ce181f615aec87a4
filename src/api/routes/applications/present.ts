import type { Application, ApplicationKey } from '../../../domain/applications.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { presentApplicationKey } from '../application-keys/present.ts';

/** An application with the keys that it has; `key` is given only where it was made by this very request. */
export function presentApplication(
  application: Application,
  keys: readonly ApplicationKey[],
  key?: string,
): JsonObject {
  const { createdBy, modifiedBy, modifiedAt, expiresAt } = application;
  return {
    id: application.id,
    tenant_id: application.tenantId,
    name: application.name,
    ...(key === undefined ? {} : { key }),
    keys: keys.map(presentApplicationKey),
    type: application.type,
    permissions: application.permissions,
    rules: application.rules as unknown as Json[],
    ...(expiresAt === null ? {} : { expires_at: expiresAt.toISOString() }),
    ...(createdBy === null ? {} : { created_by: createdBy }),
    created_at: application.createdAt.toISOString(),
    ...(modifiedBy === null ? {} : { modified_by: modifiedBy }),
    ...(modifiedAt === null ? {} : { modified_at: modifiedAt.toISOString() }),
  };
}
