import type { Json } from '../../../domain/json.ts';
import type { ShownToken } from '../../../domain/shown-token.ts';

const iso = (date: Date) => date.toISOString();

function presentContent({ token, data, enrichments }: ShownToken): Record<string, Json> {
  return {
    ...(data === undefined ? {} : { data }),
    ...(token.mask === null ? {} : { mask: token.mask }),
    ...(enrichments === undefined ? {} : { enrichments: enrichments as unknown as Json }),
    ...(token.fingerprintExpression === null ? {} : { fingerprint_expression: token.fingerprintExpression }),
    metadata: token.metadata,
    ...(token.searchIndexes === null ? {} : { search_indexes: token.searchIndexes }),
  };
}

/** A token as JSON. What its access rules hide is not in it: absent, not empty. */
export function presentToken(shown: ShownToken): Record<string, Json> {
  const { token, visibility } = shown;
  const identity = {
    id: token.id,
    type: token.type,
    tenant_id: token.tenantId,
    ...(token.fingerprint === null ? {} : { fingerprint: token.fingerprint }),
    containers: [token.container],
  };
  if (visibility === 'identity') return identity;
  return {
    ...identity,
    ...(visibility === 'full' ? presentContent(shown) : {}),
    ...(visibility === 'damaged' ? { damaged: true } : {}),
    ...(token.expiresAt === null ? {} : { expires_at: iso(token.expiresAt) }),
    created_by: token.createdBy,
    created_at: iso(token.createdAt),
    ...(token.modifiedBy === null ? {} : { modified_by: token.modifiedBy }),
    ...(token.modifiedAt === null ? {} : { modified_at: iso(token.modifiedAt) }),
  };
}
