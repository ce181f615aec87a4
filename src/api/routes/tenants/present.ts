import type { Tenant } from '../../../domain/tenants.ts';
import { SETTINGS } from '../../../services/tenants.ts';

/** A tenant with its quotas. Settings are texts: clients of typed languages read them so. */
export function presentTenant({ id, name, type, settings, quotas }: Tenant): object {
  return {
    ...{ id, name, type },
    settings: Object.fromEntries(Object.entries(SETTINGS).map(([key, setting]) => [key, String(settings[setting])])),
    quotas: {
      rate_limit: quotas.rateLimit.plan,
      tokenize: quotas.tokenize,
      detokenize: quotas.detokenize,
      log_retention_seconds: quotas.logRetentionSeconds,
      cvc_retention_seconds: quotas.cvcRetentionSeconds,
    },
  };
}
