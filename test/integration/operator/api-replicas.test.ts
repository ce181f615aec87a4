import { expect } from 'chai';
import type { ReplicaDirectory } from '../../../src/operator/api-replicas.ts';
import { eventually } from '../../support/eventually.ts';
import { createControlPlane, manifest, reactorPath } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';
import { startInternalApiPeer } from '../../support/operator/internal-api-peer.ts';
import type { InternalApiPeer } from '../../support/operator/internal-api-peer.ts';

describe('several replicas of the API', () => {
  let plane: ControlPlane;
  let others: InternalApiPeer[];
  let tell: (...replicas: InternalApiPeer[]) => void;
  let apiReplicas: ReplicaDirectory;

  beforeEach(async () => {
    plane = await createControlPlane();
    others = [await startInternalApiPeer(), await startInternalApiPeer()];
    let listener: (origins: readonly string[]) => void = () => undefined;
    tell = (...replicas) => listener(replicas.map(({ baseUrl }) => baseUrl));
    apiReplicas = {
      start(to) {
        listener = to;
      },
      stop: async () => undefined,
    };
    const scaling = { minReplicas: 0, maxReplicas: 8, idleSeconds: 1 };
    await plane.write(
      'reactor.yaml',
      manifest('Reactor', 'shared', { code: 'module.exports = async () => ({});', scaling }),
    );
    await (
      await plane.start({ apiReplicas })
    ).reconciled;
  });
  afterEach(async () => {
    await plane.close();
    await Promise.all(others.map((peer) => peer.close()));
  });

  const path = reactorPath('shared');
  const told = ({ held }: InternalApiPeer) => held.get(`${path}/instances`)?.instances?.length;
  const demand = (peer: InternalApiPeer, amount: number) => {
    const [, tenantId = '', , reactorId = ''] = path.split('/');
    const average = { stable: amount, panic: amount };
    peer.demand = [{ tenantId, reactorId, inFlight: amount, waiting: 0, average }];
  };

  it('are each told of all instances and of the checker, and their demand is added up', async () => {
    const [one, other] = others as [InternalApiPeer, InternalApiPeer];
    demand(one, 0.7);
    demand(other, 2.1);
    tell(one, other);
    await eventually(() => expect([told(one), told(other)]).to.deep.equal([4, 4]));
    expect([one, other].map(({ held }) => held.get('checker')?.address)).to.deep.equal(
      Array(2).fill((await plane.runtime.checker()).address),
    );
    expect(plane.api.held.has(`${path}/instances`)).to.equal(false);
  });

  it('are told everything when they are new, and count no more once they are gone', async () => {
    const [one, other] = others as [InternalApiPeer, InternalApiPeer];
    demand(one, 0.7);
    tell(one);
    await eventually(() => expect(told(one)).to.equal(1));
    tell(one, other);
    await eventually(() => expect(told(other)).to.equal(1));
    expect(other.held.has('checker')).to.equal(true);

    one.demand = [];
    demand(other, 7);
    await eventually(() => expect(told(one)).to.equal(8));
    tell(one);
    await eventually(() => expect(told(one)).to.equal(0));
  });

  it('have the scale looked at as soon as calls wait at any of them', async () => {
    const [one, other] = others as [InternalApiPeer, InternalApiPeer];
    tell(one, other);
    await eventually(() => expect([one, other].every(({ demandRequests }) => demandRequests > 0)).to.equal(true));
    demand(other, 0.7);
    other.poke(path);
    await eventually(() => expect(told(one)).to.equal(1), { deadlineMs: 700 });
  });

  it('hold up no other one while one does not answer, and nothing is scaled down on what the others tell', async () => {
    const [one, other] = others as [InternalApiPeer, InternalApiPeer];
    demand(one, 0.7);
    demand(other, 0.7);
    tell(one, other);
    await eventually(() => expect([told(one), told(other)]).to.deep.equal([2, 2]));
    other.mute = true;
    other.refuse = () => ({ status: 503, body: {} });
    demand(one, 1.4);
    await eventually(() => expect(told(one)).to.equal(3));
    expect(told(other)).to.equal(2);
    one.demand = [];
    const asked = one.demandRequests;
    await eventually(() => expect(one.demandRequests).to.be.at.least(asked + 3));
    expect(told(one)).to.equal(3);
  });

  it('scale nothing while none of them is known', async () => {
    const states = () => [...plane.runtime.states.values()].map(({ desired }) => desired);
    await eventually(() => expect(states()).to.deep.equal([0]));
    demand(plane.api, 5);
    plane.api.poke(path);
    const requests = () => plane.api.requests.filter((request) => request.endsWith('/instances'));
    expect(requests()).to.deep.equal([]);
    expect(states()).to.deep.equal([0]);
  });
});
