import { expect } from 'chai';
import { digestOfKey } from '../../../../src/domain/application-keys.ts';
import { eventually } from '../../../support/eventually.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { useKubernetesPlane } from '../../../support/operator/use-kubernetes-plane.ts';

const WAIT = { deadlineMs: 60_000 };
const SECRET = 'payments-api-key';

describe('deletion of applications in a cluster', function () {
  this.timeout(180_000);
  let plane: KubernetesPlane;

  useKubernetesPlane((made) => (plane = made));

  const declare = (spec: object = {}, metadata: object = {}) =>
    plane.apply('Application', 'payments', { metadata, spec: { type: 'private', ...spec } });
  const isGone = (kind: 'Application' | 'Secret', name: string) =>
    eventually(async () => expect(await plane.read(kind, name)).to.be.undefined, WAIT);
  const isHeld = () => plane.api.held.has(plane.applicationPath('payments'));

  it('revokes its key in the API first, then takes its Secret', async () => {
    await declare();
    await plane.start();
    await plane.remove('Application', 'payments');
    await isGone('Application', 'payments');
    expect(isHeld()).to.be.false;
    expect(await plane.read('Secret', SECRET)).to.be.undefined;
  });

  it('leaves the application and its Secret under the policy Retain; declared again, it goes on with its key', async () => {
    await declare({ deletionPolicy: 'Retain' });
    await plane.start();
    const { 'api-key': key = '' } = await plane.secret(SECRET);
    await plane.remove('Application', 'payments');
    await isGone('Application', 'payments');
    expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
    expect(await plane.secret(SECRET)).to.include({ 'api-key': key });

    await declare({ displayName: 'Again' });
    await eventually(() => expect(plane.heldAt(plane.applicationPath('payments')).name).to.equal('Again'), WAIT);
    expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
    const owners = (await plane.read('Secret', SECRET))?.metadata.ownerReferences ?? [];
    expect(owners.map(({ name }) => name)).to.deep.equal(['payments']);
  });

  it('goes by the policy that was in force', async () => {
    await declare({ deletionPolicy: 'Retain' });
    const operator = await plane.start();
    await plane.stop(operator);
    await declare({ deletionPolicy: 'Delete' });
    await plane.remove('Application', 'payments');
    await plane.start();
    await isGone('Application', 'payments');
    expect(isHeld()).to.be.true;
  });

  it('goes by the last word too, which nobody reconciled: Retain keeps the application and its Secret', async () => {
    await declare({ deletionPolicy: 'Delete' });
    const operator = await plane.start();
    const { 'api-key': key = '' } = await plane.secret(SECRET);
    await plane.stop(operator);
    await declare({ deletionPolicy: 'Retain' });
    await plane.remove('Application', 'payments');
    await plane.start();
    await isGone('Application', 'payments');
    expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
    expect(await plane.secret(SECRET)).to.include({ 'api-key': key });
    expect((await plane.read('Secret', SECRET))?.metadata.ownerReferences ?? []).to.be.empty;
  });

  it('is made up for at the next start where it happened meanwhile', async () => {
    await declare();
    const operator = await plane.start();
    await plane.stop(operator);
    await plane.remove('Application', 'payments');
    expect((await plane.read('Application', 'payments'))?.metadata.deletionTimestamp).to.be.a('string');
    await plane.start();
    await isGone('Application', 'payments');
    expect(isHeld()).to.be.false;
  });

  it('waits while the API refuses, and says so', async () => {
    await declare();
    await plane.start();
    let isRefusing = true;
    plane.api.refuse = (method) =>
      method === 'DELETE' && isRefusing ? { status: 409, body: { title: 'Busy', status: 409 } } : undefined;
    await plane.remove('Application', 'payments');
    await eventually(async () => {
      expect(await plane.condition('Application', 'payments')).to.include({ reason: 'Deleting' });
    }, WAIT);
    expect(await plane.read('Secret', SECRET)).not.to.be.undefined;
    isRefusing = false;
    await isGone('Application', 'payments');
    expect(isHeld()).to.be.false;
  });

  it('leaves the finalizers of others to them', async () => {
    await declare({}, { finalizers: ['example.com/theirs'] });
    await plane.start();
    await plane.remove('Application', 'payments');
    await eventually(() => expect(isHeld()).to.be.false, WAIT);
    await eventually(async () => {
      const finalizers = (await plane.read('Application', 'payments'))?.metadata.finalizers;
      expect(finalizers).to.deep.equal(['example.com/theirs']);
    }, WAIT);
    await isGone('Secret', SECRET);
    await plane.patch('Application', 'payments', { metadata: { finalizers: null } });
    await isGone('Application', 'payments');
  });

  it('of one that never was reconciled is not held up by an operator that is away', async () => {
    await declare();
    await plane.remove('Application', 'payments');
    expect(await plane.read('Application', 'payments')).to.be.undefined;
  });

  it('of the whole namespace takes everything with it, and ends', async () => {
    for (const name of ['payments', 'refunds', 'support']) {
      await plane.apply('Application', name, { spec: { type: 'private' } });
    }
    await plane.apply('Reactor', 'brand', { spec: { code: 'module.exports = async () => ({});' } });
    await plane.start();
    await plane.remove('Namespace', plane.namespace);
    await eventually(async () => expect(await plane.read('Namespace', plane.namespace)).to.be.undefined, WAIT);
    const left = [...plane.api.held.keys()].filter((path) => /applications|reactors\/[^/]+$/.test(path));
    expect(left).to.deep.equal([]);
  });

  it('and a new one of the same name are two: the new one has a key of its own', async () => {
    await declare();
    await plane.start();
    const { 'api-key': former = '' } = await plane.secret(SECRET);
    await plane.remove('Application', 'payments');
    await isGone('Application', 'payments');
    await declare();
    await eventually(async () => {
      const { 'api-key': key = '' } = await plane.secret(SECRET);
      expect(key).not.to.equal(former);
      expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
    }, WAIT);
  });
});
