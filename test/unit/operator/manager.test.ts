import { expect } from 'chai';
import { createCleanedResources } from '../../../src/operator/cleaned-resources.ts';
import type { ApplicationResource } from '../../../src/operator/kinds/application.ts';
import { Manager } from '../../../src/operator/manager.ts';
import { createResourceStore } from '../../../src/operator/store.ts';
import { createTenantDirectory } from '../../../src/operator/tenant-directory.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';

const KEY = 'Application/shop/payments';
const DELETED: ApplicationResource = {
  kind: 'Application',
  metadata: {
    ...{ namespace: 'shop', name: 'payments', labels: {}, annotations: {}, generation: 1 },
    ...{ creationTimestamp: '2026-01-01T00:00:00Z', deletionTimestamp: '2026-01-02T00:00:00Z' },
  },
  spec: { type: 'private', permissions: [], rules: [], key: {}, deletionPolicy: 'Delete' },
  status: { conditions: [], id: 'an-id', tenantId: 'acme' },
};
const CHANGE = { kind: 'application', tenantId: 'acme', id: 'an-id' } as const;

describe('the manager, of what comes back after its resource was deleted', () => {
  const store = createResourceStore();
  const cleaned = createCleanedResources();
  let added: string[];
  let manager: Manager;

  beforeEach(async () => {
    added = [];
    const queue = { add: (key: string) => void added.push(key), idle: async () => undefined };
    manager = new Manager(store, queue, createTenantDirectory(store), createManualClock(), cleaned);
    await manager.begin();
    store.put(DELETED);
    cleaned.add(DELETED);
    added = [];
  });
  afterEach(() => manager.stop());

  it('has it cleaned up again', () => {
    manager.removed({ kind: 'Application', namespace: 'shop', name: 'payments' });
    added = [];
    manager.declarationChanged(CHANGE);
    expect(added).to.deep.equal([KEY]);
    expect(cleaned.toRepeat(KEY)).to.equal(DELETED);
  });

  it('also where the source tells only later that the resource is gone', () => {
    manager.declarationChanged(CHANGE);
    manager.removed({ kind: 'Application', namespace: 'shop', name: 'payments' });
    expect(added).to.deep.equal([KEY, KEY]);
    expect(cleaned.toRepeat(KEY)).to.equal(DELETED);
  });

  it('also where nobody told of the change', () => {
    manager.removed({ kind: 'Application', namespace: 'shop', name: 'payments' });
    added = [];
    manager.declarationsMissed();
    expect(added).to.include(KEY);
    expect(cleaned.toRepeat(KEY)).to.equal(DELETED);
  });
});
