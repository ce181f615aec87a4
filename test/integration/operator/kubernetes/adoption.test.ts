import { expect } from 'chai';
import { declaredId, tenantIdOf } from '../../../../src/domain/declarations.ts';
import { pathOf } from '../../../../src/operator/sources/kubernetes/objects.ts';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { createKubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';

const WAIT = { deadlineMs: 60_000 };
const TENANT = tenantIdOf('default');
const THEIRS = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';

describe('objects of the API that others have, in a cluster', function () {
  this.timeout(180_000);
  let cluster: KubernetesCluster;
  let plane: KubernetesPlane;

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
  });
  beforeEach(async () => {
    plane = await createKubernetesPlane(cluster);
  });
  afterEach(() => plane.close());

  const declare = (name: string, id?: string) => {
    const metadata = id === undefined ? {} : { annotations: { 'tokenkeep.dev/id': id } };
    return plane.apply('Application', name, { metadata, spec: { type: 'private' } });
  };
  const isGone = (name: string) =>
    eventually(async () => expect(await plane.read('Application', name)).to.be.undefined, WAIT);

  it('are not taken by an annotation, nor deleted with the resource that asked for them', async () => {
    await declare('payments');
    await plane.start();
    const held = plane.heldAt(plane.applicationPath('payments'));
    await declare('thief', declaredId(TENANT, 'Application', plane.namespace, 'payments'));
    await eventually(async () => {
      expect(await plane.condition('Application', 'thief', 'Stalled')).to.include({ reason: 'IdConflict' });
    }, WAIT);
    await plane.remove('Application', 'thief');
    await isGone('thief');
    expect(plane.heldAt(plane.applicationPath('payments'))).to.deep.equal(held);
    expect(await plane.condition('Application', 'payments')).to.include({ status: 'True' });
  });

  it('are not deleted because a status tells of them', async () => {
    const theirs = `tenants/${TENANT}/applications/${THEIRS}`;
    plane.api.held.set(theirs, { name: 'made through the API', keys: [] });
    await declare('payments');
    await plane.stop(await plane.start());
    const at = pathOf({ kind: 'Application', namespace: plane.namespace, name: 'payments' });
    await plane.admin.mergePatch({ ...at, subresource: 'status' }, { status: { id: THEIRS, tenantId: TENANT } });
    await plane.remove('Application', 'payments');
    await plane.start();
    await isGone('payments');
    expect(plane.api.held.has(theirs)).to.be.true;
    expect(plane.events.map(({ reason }) => reason)).to.include('LeftInApi');
  });
});
