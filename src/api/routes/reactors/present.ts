import type { JsonObject } from '../../../domain/json.ts';
import type { DamagedReactor, Reactor } from '../../../domain/reactors.ts';

export function presentReactor(reactor: Reactor | DamagedReactor): JsonObject {
  const { applicationId, createdBy, modifiedBy, modifiedAt } = reactor;
  return {
    id: reactor.id,
    tenant_id: reactor.tenantId,
    name: reactor.name,
    ...('damaged' in reactor ? { damaged: true } : { code: reactor.code, configuration: reactor.configuration }),
    ...(applicationId === null ? {} : { application: { id: applicationId } }),
    ...(createdBy === null ? {} : { created_by: createdBy }),
    created_at: reactor.createdAt.toISOString(),
    ...(modifiedBy === null ? {} : { modified_by: modifiedBy }),
    ...(modifiedAt === null ? {} : { modified_at: modifiedAt.toISOString() }),
  };
}
