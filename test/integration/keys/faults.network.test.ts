import { expect } from 'chai';
import { itOutlives } from '../../support/faults/scenario.ts';
import { requireFaultTools, startFaultStage, type FaultStage } from '../../support/faults/stage.ts';
import type { Toxic } from '../../support/toxiproxy.ts';

/** Vault is given a second for each try. */
const SPOILS: [name: string, toxic: Toxic, logged: RegExp][] = [
  ['delays every answer by two seconds', { type: 'latency', attributes: { latency: 2_000 } }, /nothing within 1000 ms/],
  [
    'lets answers trickle, so that none is ever silent for long',
    { type: 'slicer', attributes: { average_size: 16, size_variation: 8, delay: 300_000 } },
    /nothing within 1000 ms/,
  ],
  ['has hardly any bandwidth', { type: 'bandwidth', attributes: { rate: 0 } }, /nothing within 1000 ms/],
  ['drops every answer', { type: 'timeout', attributes: { timeout: 0 } }, /nothing within 1000 ms/],
  ['resets connections', { type: 'reset_peer', attributes: { timeout: 0 } }, /Vault does not answer/],
];

describe('a vault whose network to the transit server', () => {
  let stage: FaultStage | undefined;
  before(async function () {
    stage = await startFaultStage(await requireFaultTools(this));
  });
  after(() => stage?.stop());

  for (const [name, toxic, logged] of SPOILS) {
    const fault = {
      ...{ name, logged },
      strike: ({ link }: FaultStage) => link.spoil(toxic),
      mend: ({ link }: FaultStage) => link.heal(),
    };
    itOutlives(fault, () => stage!);
  }

  itOutlives(
    {
      name: 'refuses connections',
      strike: ({ link }) => link.cut(),
      mend: ({ link }) => link.heal(),
      logged: /ECONNREFUSED|Vault does not answer/,
    },
    () => stage!,
  );

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
