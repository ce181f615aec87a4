import { ACCESS_FAULTS } from '../../support/faults/known-faults.ts';
import { itOutlives } from '../../support/faults/scenario.ts';
import { requireFaultTools, startFaultStage, type FaultStage } from '../../support/faults/stage.ts';

describe('a vault whose access to the transit server', () => {
  let stage: FaultStage | undefined;
  before(async function () {
    stage = await startFaultStage(await requireFaultTools(this));
  });
  after(() => stage?.stop());

  for (const fault of ACCESS_FAULTS) itOutlives(fault, () => stage!);
});
