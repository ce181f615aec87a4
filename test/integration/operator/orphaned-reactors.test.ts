import { expect } from 'chai';
import { createControlPlane, manifest, reactorPath, TENANT } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';
import { createFastClock } from '../../support/operator/fast-clock.ts';
import { eventually } from '../../support/eventually.ts';

const MINUTE = 60_000;
const [ONE, OTHER] = ['0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d', '1b2c3d4e-5f60-4b7c-9d8e-0f1a2b3c4d5e'];
const SCALING = { minReplicas: 0, maxReplicas: 3, concurrency: 1, idleSeconds: 60 };

/** Reactors that were made through the API: no resource would make them again. */
describe('reactors that run and that the API no longer lists', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
    for (const id of [ONE, OTHER]) plane.api.held.set(pathOf(id), { scaling: SCALING });
    await plane.runtime.apply(workloadOf(ONE), 2);
    await plane.runtime.apply(workloadOf(OTHER), 2);
  });
  afterEach(() => plane.close());

  const pathOf = (id: string) => `tenants/${TENANT}/reactors/${id}`;
  const workloadOf = (reactorId: string) => ({
    ...{ tenantId: TENANT, reactorId, revision: '1', name: 'made', code: '', configuration: {} },
    ...{ timeoutSeconds: 1, memoryBytes: 1, scaling: SCALING },
  });
  const running = () => [...plane.runtime.states].map(([key, { desired }]) => `${key.split('/')[1]} ${desired}`);
  const instances = () => [...plane.runtime.states.keys()].map((key) => key.split('/')[1]);
  /** Until the operator has looked at the list so often. */
  const looks = async (count: number) => {
    const asked = plane.api.listRequests;
    await eventually(() => expect(plane.api.listRequests).to.be.at.least(asked + count));
  };

  it('go at once where the API tells that they were deleted', async () => {
    await plane.start();
    await eventually(() => expect(instances()).to.deep.equal([ONE, OTHER]));
    plane.api.drift(pathOf(ONE), undefined);
    await eventually(() => expect(instances()).to.deep.equal([OTHER]));
    plane.api.drift(pathOf(OTHER), undefined);
    await eventually(() => expect(instances()).to.deep.equal([]));
  });

  it('go once they were missing for five minutes where nobody told, and are left as they are till then', async () => {
    const clock = createFastClock(200);
    plane.api.held.delete(pathOf(ONE));
    const startedAt = clock.now();
    await plane.start({ clock });
    await looks(5);
    expect(running()).to.include(`${ONE} 2`);
    await eventually(() => expect(instances()).to.deep.equal([OTHER]));
    expect(clock.now() - startedAt).to.be.greaterThan(5 * MINUTE);
  });

  it('stay as they are where it lists none at all, as over an empty database', async () => {
    const clock = createFastClock(200);
    plane.api.held.clear();
    const startedAt = clock.now();
    await plane.start({ clock });
    await eventually(() => expect(clock.now() - startedAt).to.be.greaterThan(10 * MINUTE));
    await looks(1);
    expect(running()).to.deep.equal([`${ONE} 2`, `${OTHER} 2`]);
  });

  it('stay as they are where what it stores of them is damaged, and are scaled again once it is not', async () => {
    const clock = createFastClock(200);
    plane.api.damaged = [{ tenantId: TENANT, reactorId: ONE }];
    const startedAt = clock.now();
    await plane.start({ clock });
    await eventually(() => expect(clock.now() - startedAt).to.be.greaterThan(10 * MINUTE));
    // The control: nobody calls either of them.
    expect(running()).to.have.members([`${ONE} 2`, `${OTHER} 0`]);
    plane.api.damaged = [];
    await eventually(() => expect(running()).to.have.members([`${ONE} 0`, `${OTHER} 0`]));
  });

  it('say in their status what a person can do where they are damaged', async () => {
    const code = 'module.exports = async () => ({ raw: {} });';
    await plane.write('reactor.yaml', manifest('Reactor', 'brand', { code }));
    const [, tenantId = '', , reactorId = ''] = reactorPath('brand').split('/');
    plane.api.damaged = [{ tenantId, reactorId }];
    await plane.start();
    await eventually(async () => {
      const condition = await plane.condition('Reactor', 'brand');
      expect(condition).to.include({ status: 'False', reason: 'Damaged' });
      expect(condition?.message).to.include('the database and the keys');
    });
    plane.api.damaged = [];
    plane.api.drift(reactorPath('brand'), plane.api.held.get(reactorPath('brand')));
    await eventually(async () => {
      expect(await plane.condition('Reactor', 'brand')).to.include({ status: 'True' });
    });
  });
});
