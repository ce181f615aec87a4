import { DEFAULT_TENANT } from '../../domain/declarations.ts';
import type { TenantDeclaration } from '../../domain/declarations.ts';
import type { RateLimitQuota } from '../../domain/rate-limit-quotas.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../domain/tenants.ts';
import { parseDurationSeconds } from '../durations.ts';
import type { TenantResource, TenantSpec } from '../kinds/tenant.ts';

function rateLimitQuota({ quotas, rateLimits = [] }: TenantSpec): RateLimitQuota {
  return quotas.rateLimit === 'Custom' ? { plan: 'Custom', rows: rateLimits } : { plan: quotas.rateLimit };
}

/** What the API is asked to hold for a Tenant. */
export function buildTenantDeclaration({ metadata, spec }: TenantResource): TenantDeclaration {
  return {
    name: metadata.name,
    type: spec.type,
    quotas: {
      tokenize: spec.quotas.tokenize,
      detokenize: spec.quotas.detokenize,
      logRetentionSeconds: parseDurationSeconds(spec.quotas.logRetention),
      cvcRetentionSeconds: parseDurationSeconds(spec.quotas.cvcRetention),
      rateLimit: rateLimitQuota(spec),
    },
    settings: spec.settings,
  };
}

/** The tenant `default` where no Tenant of that name is declared. */
export const UNDECLARED_DEFAULT_TENANT: TenantDeclaration = {
  name: DEFAULT_TENANT,
  type: 'production',
  quotas: DEFAULT_QUOTAS,
  settings: DEFAULT_SETTINGS,
  declared: false,
};
