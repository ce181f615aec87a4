import { expect } from 'chai';
import { createOwnSecretChanges } from '../../../../src/operator/sources/kubernetes/own-secret-changes.ts';
import type { OwnSecretChanges } from '../../../../src/operator/sources/kubernetes/own-secret-changes.ts';
import type { MetadataObject } from '../../../../src/operator/sources/kubernetes/objects.ts';
import { rejection } from '../../../support/rejection.ts';

const NAME = { namespace: 'shop', name: 'key' };
const at = (resourceVersion: string): MetadataObject => ({
  metadata: { ...NAME, uid: 'uid', resourceVersion, creationTimestamp: '' },
});

describe('changes of the operator’s own Secrets', () => {
  let changes: OwnSecretChanges;
  let told: number;

  beforeEach(() => {
    told = 0;
    changes = createOwnSecretChanges(() => told++);
  });

  it('are told of where others make them, and not where a write of ours does, before or after its answer', async () => {
    changes.observed(at('1'));
    expect(told).to.equal(1);
    await changes.write(NAME, () => {
      changes.observed(at('2'));
      return Promise.resolve(at('2'));
    });
    changes.observed(at('2'));
    expect(told).to.equal(1);
    changes.observed(at('3'));
    expect(told).to.equal(2);
  });

  it('leave nothing behind where the Secret was deleted before the write of it was answered', async () => {
    await changes.write(NAME, () => {
      changes.observed(at('1'));
      changes.gone(NAME);
      return Promise.resolve(at('1'));
    });
    expect(told).to.equal(1);
    expect(changes.isCovered(NAME)).to.be.false;
  });

  it('end with what was made anew, where a former Secret of the name goes while that is made', async () => {
    await changes.write(NAME, () => {
      changes.gone(NAME);
      changes.observed(at('5'));
      return Promise.resolve(at('5'));
    });
    expect(told).to.equal(0);
    expect(changes.isCovered(NAME)).to.be.true;
  });

  it('are told of after a write that failed', async () => {
    const error = await rejection(
      changes.write(NAME, () => {
        changes.observed(at('4'));
        return Promise.reject(new Error('conflict'));
      }),
    );
    expect(error.message).to.equal('conflict');
    expect(told).to.equal(1);
  });
});
