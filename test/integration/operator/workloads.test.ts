import { expect } from 'chai';
import { tenantIdOf } from '../../../src/domain/declarations.ts';
import { createControlPlane, heldAt, manifest, reactorPath, TENANT } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';
import { eventually } from '../../support/eventually.ts';

describe('workloads of the reactors that the API holds', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
  });
  afterEach(() => plane.close());

  const code = 'module.exports = async () => ({ raw: {} });';
  const reactor = (name: string, metadata: object = {}, spec: object = {}) =>
    manifest('Reactor', name, { code, scaling: { maxReplicas: 3 }, ...spec }, metadata);
  const instancesAt = (path: string) => heldAt(plane, `${path}/instances`).instances ?? [];
  const demandAt = (path: string, waiting: number) => {
    const [, tenantId = '', , reactorId = ''] = path.split('/');
    plane.api.demand = [{ tenantId, reactorId, inFlight: 0, waiting }];
  };

  it('run at the scale that their demand asks for, with their instances announced', async () => {
    await plane.write('reactor.yaml', reactor('busy'));
    await (
      await plane.start()
    ).reconciled;
    await eventually(() => expect(instancesAt(reactorPath('busy'))).to.have.length(1));
    await eventually(async () => expect((await plane.record('Reactor', 'busy'))?.status).to.include({ replicas: 1 }));
    expect(heldAt(plane, 'checker').address).to.match(/^http/);

    demandAt(reactorPath('busy'), 10);
    await eventually(() => expect(instancesAt(reactorPath('busy'))).to.have.length(3));

    await plane.remove('reactor.yaml');
    await eventually(() => expect(plane.runtime.states.size).to.equal(0));
    expect(plane.api.held.has(reactorPath('busy'))).to.be.false;
  });

  it('are scaled while a deleted one still drains', async () => {
    const { promise: drained, resolve: endDrain } = Promise.withResolvers<void>();
    plane.runtime.drained = drained;
    await plane.write('a.yaml', reactor('staying'));
    await plane.write('b.yaml', reactor('leaving'));
    await (
      await plane.start()
    ).reconciled;
    await eventually(() => expect(plane.runtime.states.size).to.equal(2));

    await plane.remove('b.yaml');
    await eventually(() => expect(plane.runtime.states.size).to.equal(1));
    demandAt(reactorPath('staying'), 10);
    await eventually(() => expect(instancesAt(reactorPath('staying'))).to.have.length(3));
    endDrain();
  });

  it('go on where removing another one fails', async () => {
    plane.runtime.drained = Promise.reject(new Error('Cannot be removed'));
    plane.runtime.drained.catch(() => undefined);
    await plane.write('a.yaml', reactor('staying'));
    await plane.write('b.yaml', reactor('leaving'));
    await (
      await plane.start()
    ).reconciled;
    await plane.remove('b.yaml');
    await eventually(() => expect(plane.runtime.states.size).to.equal(1));
    demandAt(reactorPath('staying'), 10);
    await eventually(() => expect(instancesAt(reactorPath('staying'))).to.have.length(3));
  });

  describe('under one id in two tenants', () => {
    const id = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
    const annotations = { 'tokenkeep.dev/id': id };
    const ours = `tenants/${TENANT}/reactors/${id}`;
    const theirs = `tenants/${tenantIdOf('acme')}/reactors/${id}`;

    beforeEach(async () => {
      await plane.write('tenant.yaml', manifest('Tenant', 'acme', { namespaces: { matchNames: ['acme-prod'] } }));
      await plane.write('ours.yaml', reactor('ours', { annotations }, { configuration: { OF: 'ours' } }));
      const metadata = { annotations, namespace: 'acme-prod' };
      await plane.write('theirs.yaml', reactor('theirs', metadata, { configuration: { OF: 'theirs' } }));
      await (
        await plane.start()
      ).reconciled;
    });

    it('run apart, and their instances are announced apart', async () => {
      await eventually(() => {
        expect(instancesAt(ours).map(({ revision }) => revision)).to.deep.equal([revisionAt(ours)]);
        expect(instancesAt(theirs).map(({ revision }) => revision)).to.deep.equal([revisionAt(theirs)]);
      });
      expect(revisionAt(ours)).not.to.equal(revisionAt(theirs));

      demandAt(theirs, 10);
      await eventually(() => expect(instancesAt(theirs)).to.have.length(3));
      expect(instancesAt(ours)).to.have.length(1);
      await eventually(async () => {
        expect((await plane.record('Reactor', 'theirs'))?.status).to.include({ replicas: 3 });
        expect((await plane.record('Reactor', 'ours'))?.status).to.include({ replicas: 1 });
      });

      await plane.remove('theirs.yaml');
      await eventually(() => expect([...plane.runtime.states.keys()]).to.deep.equal([`${TENANT}/${id}`]));
      expect(instancesAt(ours)).to.have.length(1);
    });

    it('are both put back where the API was changed by others', async () => {
      for (const path of [ours, theirs]) {
        const held = heldAt(plane, path);
        plane.api.drift(path, { ...held, name: 'Changed by hand' });
        await eventually(() => expect(plane.api.held.get(path)).to.deep.equal(held), { deadlineMs: 1_000 });
      }
    });

    const revisionAt = (path: string) => JSON.stringify(heldAt(plane, path));
  });
});
