import { expect } from 'chai';
import { digestOfKey } from '../../../../src/domain/application-keys.ts';
import { eventually } from '../../../support/eventually.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { useKubernetesPlane } from '../../../support/operator/use-kubernetes-plane.ts';

const WAIT = { deadlineMs: 30_000 };
const SECRET = 'payments-api-key';

describe('Secrets of applications in a cluster', function () {
  this.timeout(120_000);
  let plane: KubernetesPlane;

  useKubernetesPlane((made) => (plane = made));

  const declare = (spec: object = {}, name = 'payments') =>
    plane.apply('Application', name, { spec: { type: 'private', ...spec } });
  const keyIn = async (secret: string) => (await plane.secret(secret))['api-key'] ?? '';
  const reasonOf = async (name = 'payments') => (await plane.condition('Application', name))?.reason;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  /** The key of the Secret, once it is another than `before` and the API holds it alone. */
  const nextKey = (before: string) =>
    eventually(async () => {
      const key = await keyIn(SECRET);
      expect(key).not.to.equal(before);
      expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
      return key;
    }, WAIT);

  it('say whose they are, go with their application, and can be found by workloads', async () => {
    await declare();
    await plane.start();
    const secret = await plane.read('Secret', SECRET);
    const application = await plane.read('Application', 'payments');
    expect(secret?.type).to.equal('servicebinding.io/tokenkeep');
    expect(secret?.metadata.labels).to.deep.equal({
      'app.kubernetes.io/managed-by': 'tokenkeep',
      'tokenkeep.dev/application': 'payments',
    });
    expect(secret?.metadata.ownerReferences).to.deep.equal([
      {
        ...{ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Application', name: 'payments' },
        ...{ uid: application?.metadata.uid, controller: true },
      },
    ]);
  });

  describe('that others change', () => {
    let key: string;
    beforeEach(async () => {
      await declare();
      await plane.start();
      key = await keyIn(SECRET);
    });

    it('are made anew with another key once they are deleted, and the old one is revoked', async () => {
      await plane.remove('Secret', SECRET);
      await nextKey(key);
      expect(plane.events.filter(({ reason }) => reason === 'KeyCreated')).to.have.length(2);
    });

    it('get another key where theirs was altered or taken out', async () => {
      await plane.patch('Secret', SECRET, { data: { 'api-key': base64('altered') } });
      const second = await nextKey(key);
      await plane.patch('Secret', SECRET, { data: { 'api-key': null } });
      await nextKey(second);
    });

    it('keep their key while all else of ours is put back', async () => {
      const { metadata } = (await plane.read('Secret', SECRET))!;
      await plane.patch('Secret', SECRET, { data: { 'base-url': base64('http://elsewhere'), provider: null } });
      await eventually(async () => {
        expect(await plane.secret(SECRET)).to.include({
          'base-url': 'https://vault.example.com',
          provider: 'tokenkeep',
        });
      }, WAIT);
      await plane.patch('Secret', SECRET, { metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' } } });
      await eventually(async () => {
        expect((await plane.read('Secret', SECRET))?.metadata.labels).to.deep.equal(metadata.labels);
      }, WAIT);
      await plane.patch('Secret', SECRET, { metadata: { labels: null } });
      await eventually(async () => {
        expect((await plane.read('Secret', SECRET))?.metadata.labels).to.deep.equal(metadata.labels);
      }, WAIT);
      await plane.remove('Secret', SECRET);
      expect(await nextKey(key)).not.to.equal(key);
    });

    it('keep what others add to them', async () => {
      const added = { labels: { team: 'care' }, annotations: { 'example.com/note': 'kept' } };
      await plane.apply('ConfigMap', 'other', { data: {} });
      const { uid } = (await plane.read('ConfigMap', 'other'))!.metadata;
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid };
      const { metadata } = (await plane.read('Secret', SECRET))!;
      await plane.patch('Secret', SECRET, {
        metadata: { ...added, ownerReferences: [...metadata.ownerReferences!, owner] },
        data: { extra: base64('theirs'), 'base-url': base64('http://elsewhere') },
      });
      await eventually(async () => {
        expect((await plane.secret(SECRET))['base-url']).to.equal('https://vault.example.com');
      }, WAIT);
      const secret = (await plane.read('Secret', SECRET))!;
      expect(secret.metadata.labels).to.include(added.labels);
      expect(secret.metadata.annotations).to.include(added.annotations);
      expect(secret.metadata.ownerReferences?.map(({ name }) => name)).to.deep.equal(['payments', 'other']);
      expect(await plane.secret(SECRET)).to.include({ extra: 'theirs', 'api-key': key });
    });

    it('and make immutable cannot be rotated: a person is told to delete them, and that helps', async () => {
      await plane.patch('Secret', SECRET, { immutable: true });
      await declare({ displayName: 'Payments' });
      await eventually(() => expect(plane.heldAt(plane.applicationPath('payments')).name).to.equal('Payments'), WAIT);
      expect(await keyIn(SECRET)).to.equal(key);

      await declare({ key: { rotateAfter: '1s' } });
      await eventually(async () => {
        expect(await plane.condition('Application', 'payments', 'Stalled')).to.include({ reason: 'SecretImmutable' });
      }, WAIT);
      expect(await keyIn(SECRET)).to.equal(key);
      await declare({ key: {} });
      await plane.remove('Secret', SECRET);
      await nextKey(key);
      expect(await plane.read('Secret', SECRET)).not.to.have.property('immutable');
    });
  });

  it('that are not ours are never touched, and a person is told; once gone, ours takes the place', async () => {
    await plane.apply('Secret', SECRET, { data: { 'api-key': base64('of somebody else') } });
    const foreign = await plane.read('Secret', SECRET);
    await declare();
    await plane.start();
    expect(await plane.condition('Application', 'payments', 'Stalled')).to.include({ reason: 'SecretNotOurs' });
    expect((await plane.read('Application', 'payments'))?.status).not.to.have.property('binding');
    expect(plane.api.held.has(plane.applicationPath('payments'))).to.be.false;
    const told = plane.events.map(
      ({ regarding: { kind, name }, type, reason }) => `${kind} ${name}: ${type} ${reason}`,
    );
    expect(told).to.deep.equal(['Application payments: Warning SecretNotOurs']);
    expect(await plane.read('Secret', SECRET)).to.deep.equal(foreign);

    await plane.remove('Secret', SECRET);
    await eventually(async () => expect(await reasonOf()).to.equal('Reconciled'), WAIT);
  });

  it('that are not ours stay when an application that wanted the name is deleted', async () => {
    const marks = { labels: { 'app.kubernetes.io/managed-by': 'tokenkeep', 'tokenkeep.dev/application': 'payments' } };
    await plane.apply('Secret', SECRET, { metadata: marks, data: { 'api-key': base64('of somebody else') } });
    await declare();
    await plane.start();
    expect(await reasonOf()).to.equal('SecretNotOurs');
    await plane.remove('Application', 'payments');
    await eventually(async () => expect(await plane.read('Application', 'payments')).to.be.undefined, WAIT);
    expect(await keyIn(SECRET)).to.equal('of somebody else');
  });

  it('of one name belong to the application that made it first, until it goes', async () => {
    await declare({ key: { secretName: 'shared' } }, 'first');
    await plane.start();
    const key = await keyIn('shared');
    await declare({ key: { secretName: 'shared' } }, 'second');
    await eventually(async () => expect(await reasonOf('second')).to.equal('SecretNotOurs'), WAIT);
    expect(await keyIn('shared')).to.equal(key);
    await plane.remove('Application', 'first');
    await eventually(async () => expect(await reasonOf('second')).to.equal('Reconciled'), WAIT);
    expect(plane.digestsOf('second')).to.deep.equal([digestOfKey(await keyIn('shared'))]);
    expect(await keyIn('shared')).not.to.equal(key);
  });

  it('have no owner under the deletion policy Retain, and follow a change of the policy', async () => {
    const owners = async () => (await plane.read('Secret', SECRET))?.metadata.ownerReferences?.map(({ name }) => name);
    await declare({ deletionPolicy: 'Retain' });
    await plane.start();
    const key = await keyIn(SECRET);
    expect(await owners()).to.be.undefined;
    await declare({ deletionPolicy: 'Delete' });
    await eventually(async () => expect(await owners()).to.deep.equal(['payments']), WAIT);
    await declare({ deletionPolicy: 'Retain' });
    await eventually(async () => expect(await owners()).to.be.undefined, WAIT);
    expect(await keyIn(SECRET)).to.equal(key);
  });

  it('of another type, as others may have copied them, are used on: the key matters more than the type', async () => {
    await declare({ deletionPolicy: 'Retain' });
    const operator = await plane.start();
    const key = await keyIn(SECRET);
    await plane.stop(operator);
    const { labels, annotations } = (await plane.read('Secret', SECRET))!.metadata;
    await plane.remove('Secret', SECRET);
    await plane.apply('Secret', SECRET, {
      type: 'Opaque',
      metadata: { labels, annotations },
      data: { 'api-key': base64(key) },
    });
    await plane.start();
    expect(await plane.secret(SECRET)).to.include({ 'api-key': key, type: 'tokenkeep' });
    expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
  });

  it('of an application that was restored from a backup go on under its new uid', async () => {
    await declare();
    const operator = await plane.start();
    const key = await keyIn(SECRET);
    await plane.stop(operator);
    const former = (await plane.read('Application', 'payments'))!;
    const secret = (await plane.read('Secret', SECRET))!;
    await plane.patch('Secret', SECRET, { metadata: { ownerReferences: null } });
    await plane.patch('Application', 'payments', { metadata: { finalizers: null } });
    await plane.remove('Application', 'payments');
    await declare();
    const { labels, annotations } = secret.metadata;
    await plane.apply('Secret', SECRET, { metadata: { labels, annotations } });
    const again = (await plane.read('Application', 'payments'))!;
    expect(again.metadata.uid).not.to.equal(former.metadata.uid);
    await plane.start();
    expect(await keyIn(SECRET)).to.equal(key);
    const owners = (await plane.read('Secret', SECRET))?.metadata.ownerReferences ?? [];
    expect(owners.map(({ uid }) => uid)).to.deep.equal([again.metadata.uid]);
  });

  it('move with the key of their entry to another name: the old one goes, with its key', async () => {
    await declare();
    await plane.start();
    const key = await keyIn(SECRET);
    await declare({ key: { secretName: 'moved' } });
    await eventually(async () => {
      expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(await keyIn('moved'))]);
      expect(await plane.read('Secret', SECRET)).to.be.undefined;
    }, WAIT);
    expect(await keyIn('moved')).not.to.equal(key);
    await eventually(async () => {
      expect((await plane.read('Application', 'payments'))?.status?.['binding']).to.deep.equal({ name: 'moved' });
    }, WAIT);
  });

  it('stay where they are while the new name is taken by another Secret', async () => {
    await declare();
    await plane.start();
    const key = await keyIn(SECRET);
    await plane.apply('Secret', 'taken', { data: { theirs: base64('x') } });
    await declare({ key: { secretName: 'taken' } });
    await eventually(async () => expect(await reasonOf()).to.equal('SecretNotOurs'), WAIT);
    expect(await keyIn(SECRET)).to.equal(key);
    expect(plane.digestsOf('payments')).to.deep.equal([digestOfKey(key)]);
  });

  it('get another key at its age, and the old one works on for the overlap', async () => {
    await declare();
    await plane.start();
    const first = await keyIn(SECRET);
    await declare({ key: { rotateAfter: '1h', overlap: '30m' } });
    const { annotations = {} } = (await plane.read('Secret', SECRET))!.metadata;
    const created = new Date(Date.parse(annotations['tokenkeep.dev/key-created-at']!) - 3_600_000).toISOString();
    await plane.patch('Secret', SECRET, { metadata: { annotations: { 'tokenkeep.dev/key-created-at': created } } });
    await eventually(async () => {
      const { keys = [] } = plane.heldAt(plane.applicationPath('payments'));
      expect(keys.map(({ digest }) => digest)).to.deep.equal([digestOfKey(await keyIn(SECRET)), digestOfKey(first)]);
      expect(keys[1]).to.have.property('expiresAt');
    }, WAIT);
    expect(await keyIn(SECRET)).not.to.equal(first);
    expect(plane.events.filter(({ reason }) => reason === 'KeyRotated')).to.have.length(1);
  });

  it('hold one key, also where two operators lead for a while: when it is made, lost and rotated', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `app-${index}`);
    for (const name of names) await declare({}, name);
    await Promise.all([plane.start(), plane.start()]);
    const settled = (count: number) =>
      eventually(async () => {
        for (const name of names) {
          const digest = digestOfKey(await keyIn(`${name}-api-key`));
          expect(plane.digestsOf(name)[0]).to.equal(digest);
          expect(plane.digestsOf(name)).to.have.length(count);
        }
      }, WAIT);
    const toldOf = (reason: string) => plane.events.filter((event) => event.reason === reason).length;
    await settled(1);
    expect(toldOf('KeyCreated')).to.equal(names.length);

    await Promise.all(names.map((name) => plane.remove('Secret', `${name}-api-key`)));
    await eventually(() => expect(toldOf('KeyCreated')).to.equal(2 * names.length), WAIT);
    await settled(1);

    const long = new Date(Date.now() - 7_200_000).toISOString();
    const age = { metadata: { annotations: { 'tokenkeep.dev/key-created-at': long } } };
    await Promise.all(names.map((name) => plane.patch('Secret', `${name}-api-key`, age)));
    await Promise.all(names.map((name) => declare({ key: { rotateAfter: '1h' } }, name)));
    await settled(2);
    expect(toldOf('KeyRotated')).to.equal(names.length);
    expect(toldOf('KeyCreated')).to.equal(2 * names.length);
  });
});
