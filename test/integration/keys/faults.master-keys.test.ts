import { expect } from 'chai';
import { MASTER_KEY_FAULTS, recreateKey, restored } from '../../support/faults/known-faults.ts';
import { expectUnavailable, itOutlives } from '../../support/faults/scenario.ts';
import { requireFaultTools, startFaultStage, type FaultStage } from '../../support/faults/stage.ts';

describe('a vault whose master key', () => {
  let stage: FaultStage | undefined;
  before(async function () {
    stage = await startFaultStage(await requireFaultTools(this));
  });
  after(() => stage?.stop());

  for (const fault of MASTER_KEY_FAULTS) itOutlives(fault, () => stage!);

  it('is another one makes no data key that would be lost, also for tenants without any', async function () {
    this.timeout(240_000);
    const { vault, settle } = stage!;
    await settle();
    const { tenantId, key } = await vault.application({ tenantId: await vault.tenant() });
    const { strike, mend } = restored({ name: 'made anew', logged: /restore/ }, recreateKey);
    await strike(stage!);
    try {
      const body = { type: 'token', data: 'first of its tenant' };
      expectUnavailable(await vault.request('POST', '/tokens', { key, body }));
      const text = 'select count(*)::int as count from data_keys where tenant_id = $1';
      const [row] = await vault.database.run<{ count: number }>({ text }, [tenantId]);
      expect(row!.count).to.equal(0);
    } finally {
      await mend(stage!);
    }
    await settle();
  });
});
