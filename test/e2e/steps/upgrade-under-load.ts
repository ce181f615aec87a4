import { deepStrictEqual, ok } from 'node:assert';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { querySql } from '../backing.ts';
import { NEXT_MIGRATION, NEXT_VERSION } from '../images/next-version.ts';
import { assertUnharmed, remarkOf, startLoad } from '../load/load.ts';
import { CHART, helm, RELEASE, releaseValues } from '../release.ts';
import { assertAllRun, declarations } from '../rollout.ts';
import type { Stage, Step } from '../step.ts';
import { callFromTheWorkload } from './call-from-a-pod.ts';
import { idOf } from './scale-a-reactor.ts';

/** Of a call of a reactor, at most; see docs/scaling.md. */
const HELD_MS = 20_000;
const DEADLINE = { deadlineMs: 150_000, everyMs: 500 };

/**
 * To a later version of chart and image, with one more migration: every pod of API, operator and reactors is replaced,
 * while clients go on calling.
 */
export const upgradeUnderLoad: Step = {
  name: 'upgrade to the next version under load',
  async run(stage) {
    const node = stage.get('node');
    const declared = await declarations(node);
    const chart = await nextChart(stage);
    const image = stage.get('nextImage');
    using load = await startLoad(stage);
    using reactorLoad = await startLoad(stage, { reactorId: await idOf(node), callers: 1 });
    const upgrade = ['upgrade', RELEASE.name, chart, '--wait', '--timeout', '4m'];
    await helm(stage, upgrade, releaseValues(stage, image));
    await eventually(() => assertAllRun(node, image), DEADLINE);
    const reports = [await load.stop(), await reactorLoad.stop()];
    assertUnharmed(reports[0]!);
    // A replica of the API that is new holds calls until the next leader has told it of instances.
    assertUnharmed(reports[1]!, HELD_MS);

    const applied = `select name from schema_migrations where number = ${NEXT_MIGRATION.number}`;
    deepStrictEqual(await querySql(node, applied), NEXT_MIGRATION.name);
    const releases = JSON.parse(await helm(stage, ['list', '--output=json'])) as { chart: string; status: string }[];
    deepStrictEqual(
      releases.map(({ chart: version, status }) => [version, status]),
      [[`${RELEASE.name}-${NEXT_VERSION}`, 'deployed']],
    );
    deepStrictEqual(await declarations(node), declared);
    await callFromTheWorkload(stage);
    return `tokens: ${remarkOf(reports[0]!)}; reactor: ${remarkOf(reports[1]!)}`;
  },
};

/** The chart, as a later release of it. Resolves with its folder. */
async function nextChart(stage: Stage): Promise<string> {
  const folder = join(stage.folder, 'next-chart');
  await cp(CHART, folder, { recursive: true });
  const file = join(folder, 'Chart.yaml');
  const text = await readFile(file, 'utf8');
  const next = text.replace(/^version: .*$/m, `version: ${NEXT_VERSION}`);
  ok(next !== text, 'Chart.yaml has no version');
  await writeFile(file, next.replace(/^appVersion: .*$/m, `appVersion: ${NEXT_VERSION}`));
  return folder;
}
