import type { ApplicationKey } from '../../../domain/applications.ts';
import type { JsonObject } from '../../../domain/json.ts';

export function presentApplicationKey(key: ApplicationKey): JsonObject {
  return {
    id: key.id,
    tenant_id: key.tenantId,
    ...(key.createdBy === null ? {} : { created_by: key.createdBy }),
    created_at: key.createdAt.toISOString(),
    ...(key.expiresAt === null ? {} : { expires_at: key.expiresAt.toISOString() }),
  };
}
