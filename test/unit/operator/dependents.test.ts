import { expect } from 'chai';
import { dependentsOf } from '../../../src/operator/dependents.ts';
import type { AccessRuleResource } from '../../../src/operator/kinds/access-rule.ts';
import type { ApplicationResource } from '../../../src/operator/kinds/application.ts';
import type { TenantResource } from '../../../src/operator/kinds/tenant.ts';
import { createResourceStore } from '../../../src/operator/store.ts';

const metadata = (namespace: string, name: string, changes: object = {}) => ({
  ...{ namespace, name, labels: {}, annotations: {}, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
  ...changes,
});

const tenant = (spec: Partial<TenantResource['spec']> = {}, changes: object = {}): TenantResource => ({
  kind: 'Tenant',
  metadata: metadata('', 'acme', changes),
  spec: {
    type: 'production',
    quotas: { tokenize: 5, detokenize: 5, logRetention: '24h', cvcRetention: '1h', rateLimit: 'Default' },
    settings: { deduplicateTokens: false, fingerprintTokens: true },
    namespaces: { matchNames: ['shop'] },
    deletionPolicy: 'Retain',
    ...spec,
  },
});

const application: ApplicationResource = {
  kind: 'Application',
  metadata: metadata('shop', 'payments'),
  spec: { type: 'private', permissions: [], rules: [], key: {}, deletionPolicy: 'Delete' },
};

describe('what hangs on a Tenant', () => {
  const store = createResourceStore();
  store.put(application);
  const woken = (now: TenantResource | undefined, before: TenantResource | undefined) =>
    dependentsOf(store, now, before).filter((key) => key.startsWith('Application/'));
  const all = ['Application/shop/payments'];

  it('is everything, where namespaces may belong to another tenant, or to one of another id', () => {
    const moved = tenant({ namespaces: { matchNames: ['stock'] } }, { generation: 2 });
    const adopted = tenant({}, { annotations: { 'tokenkeep.dev/id': '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d' } });
    const leaving = tenant({}, { deletionTimestamp: '2026-01-02T00:00:00Z' });
    for (const now of [moved, adopted, leaving]) expect(woken(now, tenant())).to.deep.equal(all);
    expect(woken(tenant(), undefined)).to.deep.equal(all);
    expect(woken(undefined, tenant())).to.deep.equal(all);
  });

  it('is nothing, where only its limits, its settings or its labels change', () => {
    const settings = { deduplicateTokens: true, fingerprintTokens: true };
    expect(woken(tenant({ settings }, { generation: 2 }), tenant())).to.deep.equal([]);
    expect(woken(tenant({ deletionPolicy: 'Delete' }, { generation: 2 }), tenant())).to.deep.equal([]);
    expect(woken(tenant({}, { labels: { team: 'a' } }), tenant())).to.deep.equal([]);
  });

  it('is nothing, where one that is on its way out changes, whose spec may be forgotten', () => {
    const leaving = { ...tenant({}, { deletionTimestamp: '2026-01-02T00:00:00Z' }), spec: undefined as never };
    expect(woken(leaving, { ...leaving })).to.deep.equal([]);
  });
});

describe('what hangs on an Application', () => {
  const store = createResourceStore();
  const rule: AccessRuleResource = {
    kind: 'AccessRule',
    metadata: metadata('shop', 'reads'),
    spec: {
      ...{ applicationRef: { name: 'payments' }, priority: 1, container: '/' },
      ...{ transform: 'mask', permissions: ['token:read'], description: '' },
    },
  };
  store.put(rule);
  const woken = (now: ApplicationResource, before: ApplicationResource) => dependentsOf(store, now, before);
  const withStatus = (status: Partial<ApplicationResource['status'] & object>): ApplicationResource => ({
    ...application,
    status: { conditions: [], ...status },
  });
  const ready = withStatus({
    observedGeneration: 1,
    conditions: [
      {
        ...{ type: 'Ready', status: 'True', reason: 'Reconciled', message: '', observedGeneration: 1 },
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
    accessRules: [{ name: 'reads', generation: 1 }],
  });

  it('are its rules, once it becomes Ready, is edited, or has other labels', () => {
    const edited = { ...ready, metadata: { ...ready.metadata, generation: 2 } };
    const labelled = { ...ready, metadata: { ...ready.metadata, labels: { team: 'a' } } };
    expect(woken(ready, application)).to.deep.equal(['AccessRule/shop/reads']);
    for (const now of [edited, labelled]) expect(woken(now, ready)).to.deep.equal(['AccessRule/shop/reads']);
  });

  it('is nothing, while it is written on its way there', () => {
    const placed = withStatus({ id: 'an id', tenantId: 'a tenant', secretName: 'payments-api-key' });
    expect(woken(placed, application)).to.deep.equal([]);
  });
});
