import { expect } from 'chai';
import { createCleanedResources } from '../../../src/operator/cleaned-resources.ts';
import type { ApplicationResource } from '../../../src/operator/kinds/application.ts';

const application = (name: string, id = `id of ${name}`): ApplicationResource => ({
  kind: 'Application',
  metadata: {
    ...{ namespace: 'shop', name, labels: {}, annotations: {}, generation: 1 },
    ...{ creationTimestamp: '2026-01-01T00:00:00Z', deletionTimestamp: '2026-01-02T00:00:00Z' },
  },
  spec: { type: 'private', permissions: [], rules: [], key: {}, deletionPolicy: 'Delete' },
  status: { conditions: [], id, tenantId: 'acme' },
});

describe('resources that were cleaned up after', () => {
  it('are cleaned up after again where what they declared came back, and only then', () => {
    const cleaned = createCleanedResources();
    cleaned.add(application('payments'));
    expect(cleaned.toRepeat('Application/shop/payments')).to.equal(undefined);

    expect(cleaned.cameBack('Application', 'acme', 'id of payments')).to.equal('Application/shop/payments');
    expect(cleaned.toRepeat('Application/shop/payments')?.metadata.name).to.equal('payments');
    cleaned.repeated('Application/shop/payments');
    expect(cleaned.toRepeat('Application/shop/payments')).to.equal(undefined);
  });

  it('are all to be cleaned up after again where changes may have been missed', () => {
    const cleaned = createCleanedResources();
    cleaned.add(application('payments'));
    cleaned.add(application('refunds'));
    expect(cleaned.mayBeBack()).to.deep.equal(['Application/shop/payments', 'Application/shop/refunds']);
    expect(cleaned.toRepeat('Application/shop/refunds')?.metadata.name).to.equal('refunds');
  });

  it('are nothing to places where nothing of theirs was', () => {
    const cleaned = createCleanedResources();
    cleaned.add(application('payments'));
    expect(cleaned.cameBack('Application', 'other', 'id of payments')).to.equal(undefined);
    expect(cleaned.cameBack('Reactor', 'acme', 'id of payments')).to.equal(undefined);
  });

  it('stand for their last place, where one of the same name was elsewhere', () => {
    const cleaned = createCleanedResources();
    cleaned.add(application('payments', 'first'));
    cleaned.add(application('payments', 'second'));
    expect(cleaned.cameBack('Application', 'acme', 'first')).to.equal(undefined);
    expect(cleaned.cameBack('Application', 'acme', 'second')).to.equal('Application/shop/payments');
  });

  it('are remembered up to a thousand', () => {
    const cleaned = createCleanedResources();
    for (let index = 0; index <= 1_000; index++) cleaned.add(application(`app-${index}`));
    expect(cleaned.cameBack('Application', 'acme', 'id of app-0')).to.equal(undefined);
    expect(cleaned.cameBack('Application', 'acme', 'id of app-1')).to.equal('Application/shop/app-1');
  });
});
