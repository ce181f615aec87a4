import { deepStrictEqual } from 'node:assert';
import { eventually } from '../../support/eventually.ts';
import { assertUnharmed, remarkOf, startLoad } from '../load/load.ts';
import { helm, RELEASE } from '../release.ts';
import { assertAllRun, declarations } from '../rollout.ts';
import type { Step } from '../step.ts';
import { callFromTheWorkload } from './call-from-a-pod.ts';

const DEADLINE = { deadlineMs: 150_000, everyMs: 500 };

/** To the version before, which goes on with a database that is ahead of it, while clients go on calling. */
export const rollBackUnderLoad: Step = {
  name: 'roll back under load',
  async run(stage) {
    const node = stage.get('node');
    const declared = await declarations(node);
    using load = await startLoad(stage);
    await helm(stage, ['rollback', RELEASE.name, '--wait', '--timeout', '4m']);
    await eventually(() => assertAllRun(node, stage.get('image')), DEADLINE);
    const report = await load.stop();
    assertUnharmed(report);
    deepStrictEqual(await declarations(node), declared);
    await callFromTheWorkload(stage);
    return remarkOf(report);
  },
};
