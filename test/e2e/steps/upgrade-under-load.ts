import { deepStrictEqual, ok } from 'node:assert';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { querySql } from '../backing.ts';
import { NEXT_MIGRATION, NEXT_VERSION } from '../images/next-version.ts';
import { assertUnharmed, remarkOf, startLoad } from '../load/load.ts';
import type { KubernetesNode } from '../node/node.ts';
import { listPods } from '../pods.ts';
import { CHART, helm, REACTOR_NAMESPACE, RELEASE, releaseValues } from '../release.ts';
import type { Stage, Step } from '../step.ts';
import { TEAM } from '../team.ts';
import { callFromTheWorkload } from './call-from-a-pod.ts';
import { idOf } from './scale-a-reactor.ts';

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
    for (const report of reports) assertUnharmed(report);

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

/** What an upgrade is to leave as it is: under which id each declaration is known, and the keys that were given out. */
async function declarations(node: KubernetesNode): Promise<string> {
  const ids = '--output=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.status.id}{"\\n"}{end}';
  const keys = '--output=jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.data.api-key}{"\\n"}{end}';
  return (
    (await node.demand(['get', 'tokenkeep', '-n', TEAM, ids])) +
    (await node.demand(['get', 'secrets', '-n', TEAM, keys]))
  );
}

/** Nothing runs, or is ending, that is of another version; and what runs is Ready. */
async function assertAllRun(node: KubernetesNode, image: string): Promise<void> {
  const all = [...(await listPods(node, RELEASE.namespace)), ...(await listPods(node, REACTOR_NAMESPACE))];
  const others = all.filter((pod) => pod.image !== image || pod.isEnding || !pod.isReady);
  if (others.length > 0) throw new Error(`not yet replaced: ${others.map(({ name }) => name).join(', ')}`);
}
