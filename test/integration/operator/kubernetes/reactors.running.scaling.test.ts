import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import { startRunningReactors } from '../../../support/operator/running-reactors.ts';
import type { RunningReactors } from '../../../support/operator/running-reactors.ts';

const DEADLINE = { deadlineMs: 60_000, everyMs: 50 };

describe('reactors that run in the pods of a cluster, as many as are needed', function () {
  this.timeout(180_000);
  let running: RunningReactors;
  const failures: unknown[] = [];

  before(async function () {
    this.timeout(600_000);
    running = await startRunningReactors(await requireKubernetes(this));
  });
  after(() => running?.close());

  it('start with the first request, grow with the load, and go when nobody asks, without a failed request', async () => {
    const id = await running.declare('elastic', {
      displayName: 'Elastic',
      code: `module.exports = async ({ args }) => {
        await new Promise((resolve) => setTimeout(resolve, args.ms));
        return { raw: 'done' };
      };`,
      scaling: { minReplicas: 0, maxReplicas: 3, concurrency: 1, idleSeconds: 5 },
    });
    const call = async (ms: number): Promise<void> => {
      const { status, body } = await running.react(id, { ms });
      if (status !== 200) failures.push({ status, body });
    };
    const manager = await running.vault.application({ tenantId: running.application.tenantId, type: 'management' });
    // Once the API is told of it; how many there are is known by then.
    await eventually(async () => {
      expect((await running.statusOf('elastic'))['observedGeneration']).to.be.greaterThan(0);
      const { status } = await running.vault.request('GET', `/reactors/${id}`, { key: manager.key });
      expect(status).to.equal(200);
    }, DEADLINE);
    expect(running.podsOf(id)).to.deep.equal([]);

    await call(0);
    expect(failures).to.deep.equal([]);
    expect(running.podsOf(id)).not.to.deep.equal([]);

    let loaded = true;
    const clients = Array.from({ length: 6 }, async () => {
      while (loaded) await call(100);
    });
    try {
      await eventually(() => expect(running.podsOf(id)).to.have.lengthOf(3), DEADLINE);
      // More of them answer at a time than one could.
      await eventually(async () => {
        const { body } = await running.vault.internal('GET', '/demand');
        const demands = (body as { data: { reactorId: string; inFlight: number }[] }).data;
        expect(demands.find(({ reactorId }) => reactorId === id)?.inFlight).to.equal(3);
      }, DEADLINE);
    } finally {
      loaded = false;
      await Promise.all(clients);
    }
    await eventually(() => expect(running.podsOf(id)).to.deep.equal([]), DEADLINE);
    expect(failures).to.deep.equal([]);

    await call(0);
    expect(failures).to.deep.equal([]);
  });
});
