import { expect } from 'chai';
import { tenantIdOf } from '../../../src/domain/declarations.ts';
import type { ReactorDemand } from '../../../src/domain/declarations.ts';
import { createControlPlane, heldAt, manifest, reactorPath, TENANT } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';
import { createFastClock } from '../../support/operator/fast-clock.ts';
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
  const demandAt = (path: string, waiting: number, more: Partial<ReactorDemand> = {}) => {
    const [, tenantId = '', , reactorId = ''] = path.split('/');
    const average = { stable: waiting, panic: waiting };
    plane.api.demand = [{ tenantId, reactorId, inFlight: 0, waiting, average, ...more }];
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

  it('are scaled as soon as calls wait, and say that they run nothing once nobody calls', async () => {
    const scaling = { minReplicas: 0, maxReplicas: 3, idleSeconds: 1 };
    await plane.write('reactor.yaml', reactor('sleeping', {}, { scaling }));
    await (
      await plane.start()
    ).reconciled;
    const condition = () => plane.condition('Reactor', 'sleeping');
    await eventually(async () => expect(await condition()).to.include({ status: 'True', reason: 'ScaledToZero' }));
    expect((await plane.record('Reactor', 'sleeping'))?.status).to.include({
      ...{ replicas: 0, desiredReplicas: 0, engine: 'Builtin' },
    });

    demandAt(reactorPath('sleeping'), 1);
    plane.api.poke(reactorPath('sleeping'));
    await eventually(() => expect(instancesAt(reactorPath('sleeping'))).to.have.length(2), { deadlineMs: 700 });
    await eventually(async () => expect(await condition()).to.include({ status: 'True', reason: 'Reconciled' }));

    demandAt(reactorPath('sleeping'), 0);
    await eventually(async () => expect(await condition()).to.include({ reason: 'ScaledToZero' }));
    expect(instancesAt(reactorPath('sleeping'))).to.have.length(0);
  });

  it('keep their scale while the API does not tell of demand', async () => {
    await plane.write('reactor.yaml', reactor('steady', {}, { scaling: { maxReplicas: 3, idleSeconds: 1 } }));
    await (
      await plane.start()
    ).reconciled;
    demandAt(reactorPath('steady'), 10);
    await eventually(() => expect(instancesAt(reactorPath('steady'))).to.have.length(3));
    plane.api.mute = true;
    const asked = plane.api.demandRequests;
    await eventually(() => expect(plane.api.demandRequests).to.be.at.least(asked + 3));
    expect(instancesAt(reactorPath('steady'))).to.have.length(3);
  });

  it('are called degraded where the API has to stop their code again and again', async () => {
    await plane.write('reactor.yaml', reactor('hasty'));
    await (
      await plane.start()
    ).reconciled;
    demandAt(reactorPath('hasty'), 1, { failure: 'timed-out' });
    await eventually(async () => {
      const condition = await plane.condition('Reactor', 'hasty');
      expect(condition).to.include({ status: 'False', reason: 'Degraded' });
      expect(condition?.message).to.include('did not finish in time');
      // Tools that wait for it are to give up: nothing that the operator does will mend it.
      expect(await plane.condition('Reactor', 'hasty', 'Stalled')).to.include({ status: 'True', reason: 'Degraded' });
    });
    const ids = { tenantId: reactorPath('hasty').split('/')[1], reactorId: reactorPath('hasty').split('/').at(-1) };
    expect(plane.warnings).to.have.length(1);
    expect(plane.warnings[0]).to.include({ ...ids, reason: 'Degraded' });
    demandAt(reactorPath('hasty'), 1);
    await eventually(async () => {
      expect(await plane.condition('Reactor', 'hasty')).to.include({ status: 'True', reason: 'Reconciled' });
    });
    expect(await plane.condition('Reactor', 'hasty', 'Stalled')).to.equal(undefined);
  });

  it('say why their code cannot be checked, where it is the instance for that which fails', async () => {
    plane.api.refuse = (method, path) =>
      method === 'PUT' && path.endsWith(reactorPath('unchecked')) ? { status: 503, body: { status: 503 } } : undefined;
    plane.runtime.checkerFault = 'The cluster cannot get the image of instances';
    await plane.write('reactor.yaml', reactor('unchecked'));
    const operator = await plane.start({ clock: createFastClock(10) });
    await operator.reconciled;
    const condition = await plane.condition('Reactor', 'unchecked');
    expect(condition).to.include({ status: 'False', reason: 'CheckerFailing' });
    expect(condition?.message).to.include('cannot get the image');
    plane.api.refuse = () => undefined;
    await eventually(async () => {
      expect(await plane.condition('Reactor', 'unchecked')).to.include({ status: 'True' });
    });
  });

  for (const engine of ['KEDA', 'External'] as const) {
    it(`are left alone where ${engine} scales them`, async () => {
      plane.runtime.engines = ['Builtin', 'KEDA', 'External'];
      await plane.write('reactor.yaml', reactor('foreign', {}, { scaling: { engine, maxReplicas: 3 } }));
      await (
        await plane.start()
      ).reconciled;
      await eventually(() => expect(instancesAt(reactorPath('foreign'))).to.have.length(1));
      demandAt(reactorPath('foreign'), 10);
      const asked = plane.api.demandRequests;
      await eventually(() => expect(plane.api.demandRequests).to.be.at.least(asked + 2));
      expect(instancesAt(reactorPath('foreign'))).to.have.length(1);
      expect((await plane.record('Reactor', 'foreign'))?.status).to.include({ engine });
      expect(heldAt(plane, reactorPath('foreign')).scaling).to.include({ engine });
    });

    it(`are scaled as ever where a runtime cannot leave that to ${engine}`, async () => {
      await plane.write('reactor.yaml', reactor('local', {}, { scaling: { engine, maxReplicas: 3 } }));
      await (
        await plane.start()
      ).reconciled;
      demandAt(reactorPath('local'), 10);
      await eventually(() => expect(instancesAt(reactorPath('local'))).to.have.length(3));
      expect((await plane.record('Reactor', 'local'))?.status).to.include({ engine: 'Builtin' });
    });
  }

  it('go on with what runs already, and are not scaled down before demand was told for a while', async () => {
    await plane.write('reactor.yaml', reactor('warm'));
    const first = await plane.start();
    await first.reconciled;
    demandAt(reactorPath('warm'), 10);
    await eventually(() => expect(instancesAt(reactorPath('warm'))).to.have.length(3));
    await plane.stop(first);
    plane.api.demand = [];
    const asked = plane.api.demandRequests;
    await (
      await plane.start()
    ).reconciled;
    await eventually(() => expect(plane.api.demandRequests).to.be.at.least(asked + 3));
    expect([...plane.runtime.states.values()].map(({ desired }) => desired)).to.deep.equal([3]);
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
