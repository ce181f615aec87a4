import { expect } from 'chai';
import type { Condition, ConditionType } from '../../../../src/domain/resource-status.ts';
import { collectionOf, pathOf } from '../../../../src/operator/sources/kubernetes/objects.ts';
import { createResourceWrites } from '../../../../src/operator/sources/kubernetes/resource-writes.ts';
import type { ObjectRef, ResourceSource } from '../../../../src/operator/sources/types.ts';
import { refKey } from '../../../../src/operator/object-ref.ts';
import type { KubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { eventually } from '../../../support/eventually.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import type { Scene } from '../../../support/operator/crash-scene.ts';
import type { SourceBench } from '../../../support/operator/use-kubernetes-source.ts';
import { useKubernetesSource } from '../../../support/operator/use-kubernetes-source.ts';

const WAIT = { deadlineMs: 30_000 };
const OURS = 'tokenkeep.dev/cleanup';
const THEIRS = 'example.com/theirs';

describe('the Kubernetes source, of what other managers own', function () {
  this.timeout(120_000);
  let cluster: KubernetesCluster;
  let admin: KubernetesClient;
  let client: KubernetesClient;
  let scene: Scene;
  let source: ResourceSource;
  let notes: SourceBench['notes'];
  let ref: ObjectRef<'Application'>;

  useKubernetesSource((bench) => ({ cluster, admin, client, scene, source, notes, ref } = bench));

  const finalizers = async () => (await scene.read('Application', 'payments'))?.metadata.finalizers;

  /** Each way in which a manifest that holds finalizers comes to a cluster: a restored backup, an export. */
  const WAYS: Record<string, (manifest: object) => Promise<unknown>> = {
    'was created': (manifest) => admin.create(collectionOf(ref.kind, ref.namespace), manifest),
    'was applied client-side': (manifest) => cluster.demand(['apply', '-f', '-'], { input: JSON.stringify(manifest) }),
    'was applied server-side': (manifest) =>
      cluster.demand(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(manifest) }),
  };
  for (const [way, declare] of Object.entries(WAYS)) {
    it(`takes its finalizer off, and no other, where the object ${way} with it`, async () => {
      await declare({
        ...{ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Application', spec: { type: 'private' } },
        metadata: { name: ref.name, namespace: ref.namespace, finalizers: [OURS, THEIRS] },
      });
      await source.start(notes.listener);
      await source.setFinalizer(ref, true);
      await source.setFinalizer(ref, false);
      expect(await finalizers()).to.deep.equal([THEIRS]);

      await source.setFinalizer(ref, true);
      expect(await finalizers()).to.have.members([OURS, THEIRS]);
      await scene.remove('Application', 'payments');
      await source.setFinalizer(ref, false);
      expect(await finalizers()).to.deep.equal([THEIRS]);
      await scene.patch('Application', 'payments', { metadata: { finalizers: null } });
      await eventually(() => expect(notes.lines).to.include(`removed ${refKey(ref)}`), WAIT);
    });
  }

  it('takes its finalizer off an object that has changed since, with what was put there meanwhile kept', async () => {
    await scene.apply('Application', 'payments', { metadata: { finalizers: [OURS] }, spec: { type: 'private' } });
    const { uid, resourceVersion } = (await scene.read('Application', 'payments'))!.metadata;
    await scene.patch('Application', 'payments', { metadata: { finalizers: [OURS, THEIRS] } });
    const known = { uid, resourceVersion, finalizers: [OURS] };
    const idle = { observe: () => undefined, start: async () => {}, stop: async () => {} };
    await createResourceWrites(client, { ...idle, get: () => known }).setFinalizer(ref, false);
    expect(await finalizers()).to.deep.equal([THEIRS]);
  });

  it('leaves nothing in its status that another manager put there', async () => {
    await scene.apply('Application', 'payments', { spec: { type: 'private' } });
    await source.start(notes.listener);
    const condition = (type: ConditionType, reason: string): Condition => ({
      ...{ type, status: 'True', reason, message: '', observedGeneration: 1 },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    await admin.apply(
      { ...pathOf(ref), subresource: 'status' },
      {
        ...{ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Application' },
        metadata: { name: ref.name, namespace: ref.namespace },
        status: { binding: { name: 'theirs' }, conditions: [condition('Stalled', 'TheirReason')] },
      },
      'another',
    );
    const status = { observedGeneration: 1, conditions: [condition('Ready', 'Reconciled')] };
    await source.writeStatus(ref, status);
    expect((await scene.read('Application', 'payments'))?.status).to.deep.equal(status);
    expect(notes.get(ref)?.status).to.deep.equal(status);
  });
});
