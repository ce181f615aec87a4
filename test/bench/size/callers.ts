import type { AccessRule } from '../../../src/domain/access.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../../src/domain/tenants.ts';
import { TENANT } from './rows.ts';

function caller(access: Partial<Pick<Caller, 'permissions' | 'rules'>>): Caller {
  return {
    ...{ tenantId: TENANT, tenantType: 'production', quotas: DEFAULT_QUOTAS, settings: DEFAULT_SETTINGS },
    ...{ applicationId: TENANT, applicationType: 'private', keyId: TENANT, permissions: [], rules: [], ...access },
  };
}

function rule(priority: number, where: Pick<AccessRule, 'container' | 'conditions'>): AccessRule {
  return { priority, ...where, transform: 'mask', permissions: ['token:read', 'token:search'] };
}

/** The shapes that access takes. */
export const CALLERS = {
  plain: caller({ permissions: ['token:read', 'token:search', 'token:create', 'log:read'] }),
  oneContainer: caller({ rules: [rule(1, { container: '/pci/' })] }),
  rareContainer: caller({ rules: [rule(1, { container: '/rare/' })] }),
  overlapping: caller({
    rules: [rule(1, { container: '/pci/high/eu/' }), rule(2, { container: '/pci/' }), rule(3, { container: '/bank/' })],
  }),
  byId: caller({
    rules: [
      rule(1, { conditions: [{ attribute: 'id', operator: 'starts_with', value: 'order-99' }] }),
      rule(2, { container: '/rare/' }),
    ],
  }),
};
