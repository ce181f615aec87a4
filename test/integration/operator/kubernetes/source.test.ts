import { expect } from 'chai';
import { createKubernetesSource } from '../../../../src/operator/sources/kubernetes.ts';
import { pathOf } from '../../../../src/operator/sources/kubernetes/objects.ts';
import type { MetadataObject } from '../../../../src/operator/sources/kubernetes/objects.ts';
import { createResourceWrites } from '../../../../src/operator/sources/kubernetes/resource-writes.ts';
import { NamespaceTerminatingError } from '../../../../src/operator/sources/errors.ts';
import type { ObjectRef, OwnedSecret, ResourceSource, StoredSecret } from '../../../../src/operator/sources/types.ts';
import { refKey } from '../../../../src/operator/object-ref.ts';
import { systemTimers } from '../../../../src/operator/timers.ts';
import type { KubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import type { Scene } from '../../../support/operator/crash-scene.ts';
import { createNotes } from '../../../support/operator/source-notes.ts';
import type { SourceBench } from '../../../support/operator/use-kubernetes-source.ts';
import { useKubernetesSource } from '../../../support/operator/use-kubernetes-source.ts';

const WAIT = { deadlineMs: 30_000 };

describe('the Kubernetes source', function () {
  this.timeout(120_000);
  let cluster: KubernetesCluster;
  let admin: KubernetesClient;
  let client: KubernetesClient;
  let scene: Scene;
  let source: ResourceSource;
  let notes: SourceBench['notes'];
  let ref: ObjectRef<'Application'>;

  useKubernetesSource((bench) => ({ cluster, admin, client, scene, source, notes, ref } = bench));

  const declare = (metadata: object = {}, spec: object = {}) =>
    scene.apply('Application', 'payments', { metadata, spec: { type: 'private', ...spec } });
  const told = (line: string) => eventually(() => expect(notes.lines).to.include(line), WAIT);
  const status = (message: string) => ({
    observedGeneration: 1,
    conditions: [
      {
        ...({ type: 'Ready', status: 'True' } as const),
        ...{ reason: 'Reconciled', message, observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' },
      },
    ],
  });

  it('tells of what is there before it has started, with defaults filled in, and without second copies', async () => {
    const tenant = scene.tenantName('a');
    await scene.apply('Tenant', tenant, { spec: {} });
    const manifest = { apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Application', spec: { type: 'private' } };
    const metadata = { name: 'payments', namespace: scene.namespace, labels: { team: 'care' } };
    await cluster.demand(['apply', '-f', '-'], { input: JSON.stringify({ ...manifest, metadata }) });
    await source.start(notes.listener);

    const application = notes.get(ref)!;
    expect(application.spec).to.deep.include({ type: 'private', permissions: [], deletionPolicy: 'Delete' });
    expect(application.metadata).to.deep.include({ labels: { team: 'care' }, annotations: {}, generation: 1 });
    expect(JSON.stringify(application)).not.to.include('managedFields').and.not.to.include('last-applied');
    expect(notes.get({ kind: 'Tenant', namespace: '', name: tenant })?.metadata.namespace).to.equal('');
    await scene.remove('Tenant', tenant);
    await told(`removed Tenant//${tenant}`);
  });

  it('tells of what comes, changes and goes, and of one that was made anew as of another', async () => {
    await source.start(notes.listener);
    await declare();
    await told(`applied ${refKey(ref)}`);
    await declare({ labels: { team: 'care' } });
    await eventually(() => expect(notes.get(ref)?.metadata.labels).to.deep.equal({ team: 'care' }), WAIT);
    await scene.remove('Application', 'payments');
    await declare();
    const own = () => notes.lines.filter((line) => line.endsWith(refKey(ref)));
    await eventually(
      () => expect(own().slice(-2)).to.deep.equal([`removed ${refKey(ref)}`, `applied ${refKey(ref)}`]),
      WAIT,
    );
  });

  it('tells of a write of its own before that resolves, and never of an older version after a newer one', async () => {
    await declare();
    await source.start(notes.listener);
    for (let round = 0; round < 20; round++) {
      await Promise.all([
        source.writeStatus(ref, status(`round ${round}`)),
        declare({ annotations: { round: String(round) } }),
      ]);
      expect(notes.get(ref)?.status?.conditions[0]?.message).to.equal(`round ${round}`);
    }
    await eventually(() => expect(notes.get(ref)?.metadata.annotations['round']).to.equal('19'), WAIT);
    const versions = notes.versions.filter(({ key }) => key === refKey(ref)).map(({ version }) => version);
    expect(versions).to.deep.equal([...new Set(versions)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('replaces the whole of its status, and writes none where the resource is gone', async () => {
    await declare();
    await source.start(notes.listener);
    await source.writeStatus(ref, { ...status('first'), ...{ secretName: 'x' } });
    await source.writeStatus(ref, status('second'));
    expect((await scene.read('Application', 'payments'))?.status).to.deep.equal(status('second'));
    await scene.remove('Application', 'payments');
    await source.writeStatus(ref, status('late'));
    await source.setFinalizer(ref, true);
    expect(await scene.read('Application', 'payments')).to.be.undefined;
  });

  it('writes nothing to a resource that has the name of another', async () => {
    await declare();
    const { uid, resourceVersion } = (await admin.read<MetadataObject>(pathOf(ref)))!.metadata;
    await scene.remove('Application', 'payments');
    await declare();
    const before = await scene.read('Application', 'payments');
    const known = { uid, resourceVersion, finalizers: [] };
    const stale = { get: () => known, observe: () => expect.fail('something was written') };
    const writes = createResourceWrites(client, { ...stale, start: async () => {}, stop: async () => {} });
    await writes.writeStatus(ref, status('for the former one'));
    await writes.setFinalizer(ref, true);
    expect(await scene.read('Application', 'payments')).to.deep.equal(before);
    await scene.remove('Application', 'payments');
    await writes.writeStatus(ref, status('for the former one'));
    await writes.setFinalizer(ref, true);
    expect(await scene.read('Application', 'payments')).to.be.undefined;
  });

  it('puts its finalizer beside those of others, keeps it over a status, and takes off its own alone', async () => {
    await declare({ finalizers: ['example.com/theirs'] });
    await source.start(notes.listener);
    const finalizers = async () => (await scene.read('Application', 'payments'))?.metadata.finalizers;
    await source.setFinalizer(ref, true);
    await source.writeStatus(ref, status('first'));
    expect(await finalizers()).to.have.members(['example.com/theirs', 'tokenkeep.dev/cleanup']);
    await source.setFinalizer(ref, false);
    expect(await finalizers()).to.deep.equal(['example.com/theirs']);
    expect((await scene.read('Application', 'payments'))?.status).to.deep.equal(status('first'));
    await scene.patch('Application', 'payments', { metadata: { finalizers: null } });
  });

  it('keeps a deleted resource until its finalizer is taken off', async () => {
    await declare();
    await source.start(notes.listener);
    await source.setFinalizer(ref, true);
    await scene.remove('Application', 'payments');
    await eventually(() => expect(notes.get(ref)?.metadata.deletionTimestamp).to.be.a('string'), WAIT);
    await source.setFinalizer(ref, false);
    await told(`removed ${refKey(ref)}`);
    expect(await scene.read('Application', 'payments')).to.be.undefined;
  });

  it('tells of the labels of the namespaces that it watches, and of their end', async () => {
    const { namespace } = scene;
    const line = (labels: object | null) =>
      `namespace ${namespace} ${JSON.stringify(labels && { 'kubernetes.io/metadata.name': namespace, ...labels })}`;
    await source.start(notes.listener);
    expect(notes.lines.filter((text) => text.startsWith('namespace'))).to.deep.equal([line({})]);
    await scene.patch('Namespace', namespace, { metadata: { labels: { vault: 'acme' } } });
    await told(line({ vault: 'acme' }));
    await scene.remove('Namespace', namespace);
    await told(line(null));
  });

  describe('of Secrets and ConfigMaps', () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const secretOf = (data: Record<string, string>, overrides: Partial<OwnedSecret> = {}): OwnedSecret => ({
      ...{ namespace: scene.namespace, name: 'key', owner: ref, data, isRetained: false },
      labels: { 'app.kubernetes.io/managed-by': 'tokenkeep', 'tokenkeep.dev/application': 'payments' },
      annotations: { 'tokenkeep.dev/key-digest': '0'.repeat(64) },
      ...overrides,
    });
    async function stored(name = 'key'): Promise<StoredSecret> {
      const secret = await source.readOwnedSecret(scene.namespace, name);
      return secret === undefined || secret === 'foreign' ? expect.fail(`read ${secret}`) : secret;
    }
    const failure = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      );
    const changes = (name: string) => notes.lines.filter((line) => line.endsWith(`/${scene.namespace}/${name}`)).length;

    it('tells that one changed, whoever it belongs to, and reads it when asked', async () => {
      const binaryData = { text: base64('x'), binary: '/w==' };
      await scene.apply('ConfigMap', 'there', { data: { entry: 'first' }, binaryData });
      await source.start(notes.listener);
      const configMap = { kind: 'ConfigMap', namespace: scene.namespace, name: 'there' } as const;
      expect(changes('there')).to.equal(0);
      expect(await source.readReferent(configMap)).to.deep.equal({ entry: 'first', text: 'x', binary: null });
      await scene.patch('ConfigMap', 'there', { data: { entry: 'second' } });
      await told(`changed ${refKey(configMap)}`);
      expect(await source.readReferent(configMap)).to.include({ entry: 'second' });

      const secret = { kind: 'Secret', namespace: scene.namespace, name: 'theirs' } as const;
      expect(await source.readReferent(secret)).to.be.undefined;
      await scene.apply('Secret', 'theirs', { data: { entry: base64('text'), binary: '/w==' } });
      await told(`changed ${refKey(secret)}`);
      expect(await source.readReferent(secret)).to.deep.equal({ entry: 'text', binary: null });
      expect(await source.readOwnedSecret(scene.namespace, 'theirs')).to.equal('foreign');
      await scene.remove('Secret', 'theirs');
      await eventually(() => expect(changes('theirs')).to.equal(2), WAIT);
    });

    it('writes its own, is not told of that itself, but of what others do to them', async () => {
      await declare();
      await source.start(notes.listener);
      await source.writeOwnedSecret(secretOf({ 'api-key': 'first' }), undefined);
      await source.writeOwnedSecret(secretOf({ 'api-key': 'second' }), await stored());
      const before = await stored();
      expect(before.data).to.deep.equal({ 'api-key': 'second' });
      await source.writeOwnedSecret(secretOf({ 'api-key': 'second' }), before);
      expect(await stored()).to.deep.equal(before);

      // By then, the watches have told of what came before it.
      await scene.apply('Secret', 'later', { data: {} });
      await eventually(() => expect(changes('later')).to.equal(1), WAIT);
      expect(changes('key')).to.equal(0);
      await scene.patch('Secret', 'key', { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } });
      await eventually(() => expect(changes('key')).to.be.at.least(1), WAIT);
      expect((await stored()).owner).to.deep.equal(ref);
      await source.deleteOwnedSecret(await stored());
      expect(await source.readOwnedSecret(scene.namespace, 'key')).to.be.undefined;
    });

    it('refuses a write over what another writer made meanwhile, and leaves it alone', async () => {
      await declare();
      await source.start(notes.listener);
      await source.writeOwnedSecret(secretOf({ 'api-key': 'first' }), undefined);
      const before = await stored();
      expect(await failure(source.writeOwnedSecret(secretOf({ 'api-key': 'blind' }), undefined))).to.be.an('error');
      await scene.patch('Secret', 'key', { data: { other: base64('x') } });
      expect(await failure(source.writeOwnedSecret(secretOf({ 'api-key': 'late' }), before))).to.be.an('error');
      expect(await failure(source.deleteOwnedSecret(before))).to.be.an('error');
      expect((await stored()).data).to.deep.equal({ 'api-key': 'first', other: 'x' });
    });

    it('makes none in a namespace that is on its way out, and says so', async () => {
      await declare({ finalizers: ['example.com/theirs'] });
      await source.start(notes.listener);
      await scene.remove('Namespace', scene.namespace);
      await eventually(async () => {
        const error = await failure(source.writeOwnedSecret(secretOf({ 'api-key': 'x' }), undefined));
        expect(error).to.be.an.instanceOf(NamespaceTerminatingError);
      }, WAIT);
      await scene.patch('Application', 'payments', { metadata: { finalizers: null } });
      await told(`removed ${refKey(ref)}`);
    });

    it('makes none for an owner that is gone: nothing would ever delete it', async () => {
      await source.start(notes.listener);
      expect(await failure(source.writeOwnedSecret(secretOf({ 'api-key': 'x' }), undefined))).to.be.an('error');
      expect(await scene.list('Secret')).to.deep.equal([]);
    });
  });

  it('is silent once it is stopped', async () => {
    await source.start(notes.listener);
    await source.stop();
    const before = notes.lines.length;
    await declare();
    const other = createNotes();
    const next = createKubernetesSource({
      ...{ client, clock: systemTimers, logger: silentLogger },
      recorder: { record: () => undefined },
    });
    await next.start(other.listener);
    expect(other.get(ref)).not.to.be.undefined;
    await next.stop();
    expect(notes.lines).to.have.length(before);
  });
});
