import { expect } from 'chai';
import { digestOfKey, generateApplicationKey } from '../../../../src/domain/application-keys.ts';
import { eventually } from '../../../support/eventually.ts';
import { createKubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { useKubernetesPlane } from '../../../support/operator/use-kubernetes-plane.ts';

const WAIT = { deadlineMs: 30_000 };

describe('applications in a cluster', function () {
  this.timeout(120_000);
  let plane: KubernetesPlane;

  useKubernetesPlane((made) => (plane = made));

  const declare = (name: string, spec: object = {}, metadata: object = {}) =>
    plane.apply('Application', name, { metadata, spec: { type: 'private', ...spec } });
  const isReady = (name: string) =>
    eventually(async () => expect(await plane.condition('Application', name)).to.include({ status: 'True' }), WAIT);
  const reasonOf = async (name: string) => (await plane.condition('Application', name))?.reason;

  it('are declared with the digest of the key in their Secret, and tell so in their status', async () => {
    await declare('payments', { permissions: ['token:create'], displayName: 'Payments' });
    await plane.start();

    const secret = await plane.secret('payments-api-key');
    expect(secret['api-key']).to.match(/^key_prod_pvt_/);
    expect(secret).to.include({ 'base-url': 'https://vault.example.com', type: 'tokenkeep', provider: 'tokenkeep' });
    const held = plane.heldAt(plane.applicationPath('payments'));
    expect(held).to.deep.include({ name: 'Payments', type: 'private', permissions: ['token:create'], rules: [] });
    expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(secret['api-key']!)]);

    const application = await plane.read('Application', 'payments');
    expect(application?.metadata.finalizers).to.deep.equal(['tokenkeep.dev/cleanup']);
    expect(application?.status).to.deep.include({
      observedGeneration: 1,
      secretName: 'payments-api-key',
      binding: { name: 'payments-api-key' },
    });
    expect(application?.status?.conditions).to.have.length(1);
    expect(JSON.stringify(application)).not.to.include(secret['api-key']);
    expect(plane.log()).to.include('KeyCreated').and.not.to.include(secret['api-key']);
    expect(JSON.stringify(plane.events)).not.to.include(secret['api-key']);
    expect(plane.events.map(({ reason }) => reason)).to.deep.equal(['KeyCreated', 'Declared']);
    expect(plane.events[0]?.regarding).to.deep.include({
      ...{ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Application', namespace: plane.namespace, name: 'payments' },
      uid: application?.metadata.uid,
    });
  });

  it('follow an edit: the status tells which generation is in force', async () => {
    await declare('payments');
    await plane.start();
    await declare('payments', { displayName: 'Payments' });
    await eventually(async () => {
      expect(plane.heldAt(plane.applicationPath('payments')).name).to.equal('Payments');
      expect((await plane.read('Application', 'payments'))?.status?.observedGeneration).to.equal(2);
    }, WAIT);
  });

  it('that are there when the operator starts again are left as they are: nothing is written', async () => {
    await declare('payments');
    await plane.stop(await plane.start());
    const before = await plane.read('Application', 'payments');
    const secret = await plane.read('Secret', 'payments-api-key');
    await plane.start();
    expect(await plane.read('Application', 'payments')).to.deep.equal(before);
    expect(await plane.read('Secret', 'payments-api-key')).to.deep.equal(secret);
  });

  it('may bring a key from a Secret of their own, and wait for it', async () => {
    const key = generateApplicationKey('production', 'private');
    const encoded = Buffer.from(key).toString('base64');
    await declare('payments', { key: { fromSecret: { name: 'brought', key: 'token' } } });
    await plane.start();
    expect(await reasonOf('payments')).to.equal('SecretEntryNotFound');

    await plane.apply('Secret', 'brought', { data: { other: encoded } });
    await plane.apply('Secret', 'brought', { data: { token: encoded } });
    await isReady('payments');
    expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
    const { status } = (await plane.read('Application', 'payments'))!;
    expect(status).not.to.have.any.keys('secretName', 'binding');
    expect((await plane.list('Secret')).map(({ metadata }) => metadata.name)).to.deep.equal(['brought']);

    const next = generateApplicationKey('production', 'private');
    await plane.apply('Secret', 'brought', { data: { token: Buffer.from(next).toString('base64') } });
    await eventually(() => expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(next)]), WAIT);
    await plane.apply('Secret', 'brought', { data: { token: Buffer.from('short').toString('base64') } });
    await eventually(async () => expect(await reasonOf('payments')).to.equal('KeyNotUsable'), WAIT);
  });

  it('adopt the id of an annotation, and refuse one that is no UUID', async () => {
    const id = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
    await declare('adopted', {}, { annotations: { 'tokenkeep.dev/id': id } });
    await declare('broken', {}, { annotations: { 'tokenkeep.dev/id': 'no-uuid' } });
    await plane.start();
    expect((await plane.read('Application', 'adopted'))?.status?.['id']).to.equal(id);
    expect([...plane.api.held.keys()].some((path) => path.endsWith(`/applications/${id}`))).to.be.true;
    expect(await plane.condition('Application', 'broken', 'Stalled')).to.include({ reason: 'IdNotValid' });
  });

  it('are left as they are while paused, and go on after', async () => {
    await declare('payments');
    await plane.start();
    const held = plane.heldAt(plane.applicationPath('payments'));
    const pause = (value: string | null) =>
      plane.patch('Application', 'payments', { metadata: { annotations: { 'tokenkeep.dev/pause': value } } });
    await pause('true');
    await eventually(async () => {
      expect(await plane.condition('Application', 'payments', 'Paused')).to.include({ status: 'True' });
    }, WAIT);

    await declare('payments', { displayName: 'Payments' });
    const { name: _name, ...rest } = held;
    plane.api.drift(plane.applicationPath('payments'), { ...rest, name: 'Changed by hand' });
    await eventually(async () => {
      expect((await plane.read('Application', 'payments'))?.status?.observedGeneration).to.equal(2);
    }, WAIT);
    expect(plane.heldAt(plane.applicationPath('payments')).name).to.equal('Changed by hand');

    await pause(null);
    await eventually(() => expect(plane.heldAt(plane.applicationPath('payments')).name).to.equal('Payments'), WAIT);
    await eventually(
      async () => expect(await plane.condition('Application', 'payments', 'Paused')).to.be.undefined,
      WAIT,
    );
  });

  it('are put back where the API was changed or emptied by others, and a person is told', async () => {
    await declare('payments', { displayName: 'Payments' });
    await plane.start();
    const path = plane.applicationPath('payments');
    const held = plane.heldAt(path);
    plane.api.drift(path, { ...held, name: 'Changed by hand' });
    await eventually(() => expect(plane.api.held.get(path)).to.deep.equal(held), WAIT);
    plane.api.drift(path, undefined);
    await eventually(() => expect(plane.api.held.get(path)).to.deep.equal(held), WAIT);
    await eventually(() => expect(plane.events.map(({ reason }) => reason)).to.include('DriftCorrected'), WAIT);
  });

  it('stall on what the API refuses for good, until they are edited', async () => {
    const problem = { title: 'Wrong', status: 400, errors: { name: ['must be shorter'] } };
    plane.api.refuse = (method) => (method === 'PUT' && isRefusing ? { status: 400, body: problem } : undefined);
    let isRefusing = false;
    await plane.start();
    isRefusing = true;
    await declare('payments');
    await eventually(async () => {
      expect(await plane.condition('Application', 'payments', 'Stalled')).to.include({ reason: 'ApiRefused' });
    }, WAIT);
    isRefusing = false;
    await declare('payments', { displayName: 'Pay' });
    await isReady('payments');
    expect(await plane.condition('Application', 'payments', 'Stalled')).to.be.undefined;
  });

  it('in other namespaces than those that are watched are not seen', async () => {
    const elsewhere = await createKubernetesPlane(plane.cluster);
    try {
      await elsewhere.apply('Application', 'payments', { spec: { type: 'private' } });
      await declare('payments');
      await plane.start();
      expect(await reasonOf('payments')).to.equal('Reconciled');
      expect(await elsewhere.condition('Application', 'payments')).to.include({ reason: 'Pending' });
      await plane.start({ alsoNamespaces: [elsewhere.namespace] });
      expect(await elsewhere.condition('Application', 'payments')).to.include({ status: 'True' });
    } finally {
      await elsewhere.close();
    }
  });
});
