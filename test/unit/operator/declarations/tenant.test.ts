import { expect } from 'chai';
import type { JsonObject } from '../../../../src/domain/json.ts';
import { buildTenantDeclaration } from '../../../../src/operator/declarations/tenant.ts';
import type { TenantResource, TenantSpec } from '../../../../src/operator/kinds/tenant.ts';
import { createAdmission } from '../../../../src/operator/schema/admission.ts';
import { loadDefinitions } from '../../../../src/operator/schema/definitions.ts';

const { admit } = createAdmission((await loadDefinitions()).find(({ kind }) => kind === 'Tenant')!);

function quotasOf(spec: object) {
  const document = { apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Tenant', metadata: { name: 'a' }, spec };
  const admitted = admit(document as JsonObject).spec as unknown as TenantSpec;
  return buildTenantDeclaration({ ...document, spec: admitted } as unknown as TenantResource).quotas;
}

describe('the declaration of a tenant', () => {
  it('has the quotas of the specification where the resource says nothing', () => {
    expect(quotasOf({})).to.deep.equal({
      ...{ tokenize: 5, detokenize: 5, logRetentionSeconds: 86_400, cvcRetentionSeconds: 3_600 },
      rateLimit: { plan: 'Default' },
    });
  });

  it('may keep no codes at all, but no log for no time', () => {
    expect(quotasOf({ quotas: { cvcRetention: '0s' } }).cvcRetentionSeconds).to.equal(0);
    expect(quotasOf({ quotas: { cvcRetention: '90s' } }).cvcRetentionSeconds).to.equal(90);
    for (const quotas of [{ cvcRetention: '0h' }, { cvcRetention: '' }, { logRetention: '0s' }]) {
      expect(() => quotasOf({ quotas })).to.throw();
    }
  });

  it('lifts the rate limits, or has the rows of the resource', () => {
    expect(quotasOf({ quotas: { rateLimit: 'Unlimited' } }).rateLimit).to.deep.equal({ plan: 'Unlimited' });
    const row = { name: 'all', counter: 'Key', requests: 5, windowSeconds: 1 };
    expect(quotasOf({ quotas: { rateLimit: 'Custom' }, rateLimits: [row] }).rateLimit).to.deep.equal({
      plan: 'Custom',
      rows: [{ ...row, action: 'Throttle' }],
    });
  });
});
