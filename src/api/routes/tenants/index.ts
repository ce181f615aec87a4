import {
  checkSettingNames,
  readTenant,
  reportUsage,
  type TenantParts,
  type TenantUpdate,
  updateTenant,
} from '../../../services/tenants.ts';
import { type Route, route } from '../../route.ts';
import { presentTenant } from './present.ts';
import * as schema from './schema.ts';

const tag = 'Tenants';

export function tenantRoutes(parts: TenantParts): Route[] {
  return [
    route({
      method: 'get',
      path: '/tenants/self',
      operationId: 'getTenant',
      tag,
      summary: 'Read the tenant of the key',
      permission: 'tenant:read',
      responses: { 200: { description: 'The tenant.', schema: schema.tenant } },
      async handle({ caller }) {
        return { status: 200, body: presentTenant(await readTenant(parts, caller)) };
      },
    }),
    route<TenantUpdate>({
      method: 'put',
      path: '/tenants/self',
      operationId: 'updateTenant',
      tag,
      summary: 'Change name and settings of the tenant of the key',
      description:
        "Settings that are not named stay. Type and quotas are the operator's. Where a Tenant resource declares the tenant, " +
        'what differs from it is put back.',
      permission: 'tenant:update',
      body: {
        contentType: 'application/json',
        schema: schema.updateTenant,
        refine: (members, violations) => checkSettingNames((members as Partial<TenantUpdate>).settings, violations),
        example: { name: 'Acme', settings: { deduplicate_tokens: 'true' } },
      },
      responses: { 200: { description: 'The tenant.', schema: schema.tenant } },
      async handle({ caller, body }) {
        return { status: 200, body: presentTenant(await updateTenant(parts, caller, body)) };
      },
    }),
    route({
      method: 'get',
      path: '/tenants/self/reports/usage',
      operationId: 'getUsageReport',
      tag,
      summary: 'Report what the tenant uses',
      permission: 'report:read',
      responses: { 200: { description: 'The report.', schema: schema.usageReport } },
      async handle({ caller }) {
        const { totalTokens } = await reportUsage(parts, caller);
        return { status: 200, body: { total_tokens: totalTokens } };
      },
    }),
  ];
}
