import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { useKubernetesPlane } from '../../../support/operator/use-kubernetes-plane.ts';

const WAIT = { deadlineMs: 30_000 };

describe('access rules in a cluster', function () {
  this.timeout(120_000);
  let plane: KubernetesPlane;

  useKubernetesPlane((made) => (plane = made));

  const declare = (spec: object = {}, metadata: object = {}, name = 'support') =>
    plane.apply('Application', name, { metadata, spec: { type: 'private', ...spec } });
  const rule = (name: string, spec: object = {}, metadata: object = {}) =>
    plane.apply('AccessRule', name, {
      metadata,
      spec: {
        ...('applicationSelector' in spec ? {} : { applicationRef: { name: 'support' } }),
        ...{ priority: 5, container: '/pci/high/', transform: 'mask', permissions: ['token:read'] },
        ...spec,
      },
    });
  const ruleIs = (name: string, reason: string) =>
    eventually(async () => expect(await plane.condition('AccessRule', name)).to.include({ reason }), WAIT);
  const priorities = (name = 'support') =>
    plane.heldAt(plane.applicationPath(name)).rules?.map(({ priority }) => priority);

  it('wait for their application, and heal by themselves once it comes', async () => {
    await rule('masked');
    await plane.start();
    expect(await plane.condition('AccessRule', 'masked')).to.include({ reason: 'ApplicationNotFound' });
    expect(await plane.condition('AccessRule', 'masked', 'Reconciling')).to.include({ status: 'True' });
    await declare();
    await ruleIs('masked', 'Reconciled');
    const expected = { priority: 5, container: '/pci/high/', transform: 'mask', permissions: ['token:read'] };
    expect(plane.heldAt(plane.applicationPath('support')).rules).to.deep.equal([expected]);
    expect((await plane.read('AccessRule', 'masked'))?.status?.['applications']).to.deep.equal(['support']);
  });

  it('are in force for every application that carries their labels, from when it does until it does not', async () => {
    await declare({}, { labels: { team: 'care' } });
    await declare({}, {}, 'other');
    await rule('by-label', { applicationSelector: { matchLabels: { team: 'care' } }, priority: 9 });
    await plane.start();
    expect(priorities()).to.deep.equal([9]);
    expect(priorities('other')).to.deep.equal([]);
    await plane.patch('Application', 'other', { metadata: { labels: { team: 'care' } } });
    await eventually(() => expect(priorities('other')).to.deep.equal([9]), WAIT);
    await plane.patch('Application', 'support', { metadata: { labels: { team: null } } });
    await eventually(() => expect(priorities()).to.deep.equal([]), WAIT);
  });

  it('follow an edit and end with their deletion, which nothing holds up', async () => {
    await declare();
    await rule('masked');
    await plane.start();
    await rule('masked', { priority: 7 });
    await eventually(() => expect(priorities()).to.deep.equal([7]), WAIT);
    await ruleIs('masked', 'Reconciled');
    expect((await plane.read('AccessRule', 'masked'))?.metadata.finalizers).to.be.undefined;
    await plane.remove('AccessRule', 'masked');
    await eventually(() => expect(priorities()).to.deep.equal([]), WAIT);
    expect(await plane.read('AccessRule', 'masked')).to.be.undefined;
  });

  it('wait again where their application goes, and come back with it', async () => {
    await declare();
    await rule('masked');
    await plane.start();
    await plane.remove('Application', 'support');
    await ruleIs('masked', 'ApplicationNotFound');
    expect((await plane.read('AccessRule', 'masked'))?.status).not.to.have.property('applications');
    await declare();
    await ruleIs('masked', 'Reconciled');
  });

  it('are stalled where their priority is taken, until it is free; the others stay in force', async () => {
    await declare();
    await rule('first');
    await plane.start();
    await rule('second', { transform: 'reveal' });
    await ruleIs('second', 'PriorityConflict');
    expect(await plane.condition('AccessRule', 'second', 'Stalled')).to.include({ status: 'True' });
    expect(plane.heldAt(plane.applicationPath('support')).rules?.map(({ transform }) => transform)).to.deep.equal([
      'mask',
    ]);
    expect(plane.events.map(({ reason, type }) => `${type} ${reason}`)).to.include('Warning PriorityConflict');
    await plane.remove('AccessRule', 'first');
    await ruleIs('second', 'Reconciled');
    expect(await plane.condition('AccessRule', 'second', 'Stalled')).to.be.undefined;
  });

  it('are stalled where their application may not hold what they grant', async () => {
    await declare({ type: 'public' });
    await rule('forbidden');
    await plane.start();
    expect(await plane.condition('AccessRule', 'forbidden')).to.include({ reason: 'PermissionNotAllowed' });
    expect(priorities()).to.deep.equal([]);
  });

  it('are frozen with their application: pausing the rule itself changes nothing', async () => {
    const paused = { annotations: { 'tokenkeep.dev/pause': 'true' } };
    await declare();
    await rule('masked', {}, paused);
    await plane.start();
    expect(priorities()).to.deep.equal([5]);
    await declare({}, paused);
    await eventually(async () => {
      expect(await plane.condition('Application', 'support', 'Paused')).to.include({ status: 'True' });
    }, WAIT);
    await rule('masked', { priority: 8 });
    await ruleIs('masked', 'ApplicationNotReady');
    expect(priorities()).to.deep.equal([5]);
    await plane.patch('Application', 'support', { metadata: { annotations: { 'tokenkeep.dev/pause': null } } });
    await eventually(() => expect(priorities()).to.deep.equal([8]), WAIT);
    await ruleIs('masked', 'Reconciled');
  });

  it('are not taken for an earlier one of their name that is still in force', async () => {
    const paused = { annotations: { 'tokenkeep.dev/pause': 'true' } };
    await declare();
    await rule('masked');
    await plane.start();
    await ruleIs('masked', 'Reconciled');
    await declare({}, paused);
    await eventually(async () => {
      expect(await plane.condition('Application', 'support', 'Paused')).to.include({ status: 'True' });
    }, WAIT);
    await plane.remove('AccessRule', 'masked');
    await rule('masked', { priority: 8 });
    await ruleIs('masked', 'ApplicationNotReady');
    expect((await plane.read('AccessRule', 'masked'))?.metadata.generation).to.equal(1);
    await plane.patch('Application', 'support', { metadata: { annotations: { 'tokenkeep.dev/pause': null } } });
    await ruleIs('masked', 'Reconciled');
    expect(priorities()).to.deep.equal([8]);
  });
});
