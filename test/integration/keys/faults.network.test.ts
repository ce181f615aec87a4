import { expect } from 'chai';
import { NETWORK_FAULTS } from '../../support/faults/known-faults.ts';
import { itOutlives } from '../../support/faults/scenario.ts';
import { requireFaultTools, startFaultStage, type FaultStage } from '../../support/faults/stage.ts';

describe('a vault whose network to the transit server', () => {
  let stage: FaultStage | undefined;
  before(async function () {
    stage = await startFaultStage(await requireFaultTools(this));
  });
  after(() => stage?.stop());

  for (const fault of NETWORK_FAULTS) itOutlives(fault, () => stage!);

  it('is slow within the time for a try serves all the same', async function () {
    this.timeout(120_000);
    const { cold, link, read, chill, settle, takeLog, vault } = stage!;
    await settle();
    takeLog();
    await link.spoil({ type: 'latency', attributes: { latency: 300 } });
    try {
      for (let round = 0; round < 5; round++) {
        await chill(cold);
        const answer = await read(cold);
        expect([answer.status, answer.body.data]).to.deep.equal([200, cold.data]);
      }
      expect((await vault.request('GET', '/readyz')).status).to.equal(200);
    } finally {
      await link.heal();
    }
  });
});
