import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { SERVER_FAULTS } from '../../support/faults/known-faults.ts';
import { expectUnavailable, itOutlives } from '../../support/faults/scenario.ts';
import { requireFaultTools, startFaultStage, type FaultStage } from '../../support/faults/stage.ts';

const CACHE_TTL_MS = 5 * 60_000;
const PATIENCE = { deadlineMs: 60_000, everyMs: 50 };

describe('a vault whose transit server', () => {
  let stage: FaultStage | undefined;
  before(async function () {
    stage = await startFaultStage(await requireFaultTools(this));
  });
  after(() => stage?.stop());

  for (const fault of SERVER_FAULTS) itOutlives(fault, () => stage!);

  it('stays sealed serves for as long as keys are kept in memory, is not ready after that, and heals', async function () {
    this.timeout(240_000);
    const { vault, warm, server, read, settle, passTime } = stage!;
    await settle();
    await server.seal();
    try {
      await eventually(async () => {
        expect((await vault.request('GET', '/readyz')).body.degraded).to.deep.equal(['key-management']);
      }, PATIENCE);
      expect((await read(warm)).body.data).to.equal(warm.data);
      passTime(CACHE_TTL_MS);
      expectUnavailable(await read(warm));
      const answer = await eventually(async () => {
        const found = await vault.request('GET', '/readyz');
        expect(found.status).to.equal(503);
        return found;
      }, PATIENCE);
      expect(answer.body).to.deep.equal({ status: 'not ready', failures: ['key-management'], degraded: [] });
      expect((await vault.request('GET', '/healthz')).status).to.equal(200);
    } finally {
      await server.unseal();
    }
    await settle();
  });
});
