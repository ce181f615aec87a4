import { assertUnharmed, remarkOf, startLoad } from '../load/load.ts';
import { CHART, helm, RELEASE, releaseValues } from '../release.ts';
import type { Step } from '../step.ts';

/** An upgrade replaces every pod of API and operator, after the migrations ran again. */
export const rollOutUnderLoad: Step = {
  name: 'upgrade the release under load',
  async run(stage) {
    using load = await startLoad(stage);
    const changed = { podAnnotations: { 'e2e.tokenkeep.dev/upgraded': 'true' } };
    const values = releaseValues(stage);
    const upgrade = ['upgrade', RELEASE.name, CHART, '--wait', '--timeout', '4m'];
    await helm(stage, upgrade, { ...values, api: changed, operator: changed });
    const report = await load.stop();
    assertUnharmed(report);
    return remarkOf(report);
  },
};
