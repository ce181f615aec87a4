import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { requireOwnKubernetes, type KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import {
  expectState,
  prepareScene,
  runWithCrash,
  runWithoutCrash,
  type CrashPoint,
} from '../../../support/operator/crash-run.ts';
import { clearScene } from '../../../support/operator/crash-scene.ts';
import { CRASH_SCENARIOS, outlineOf } from '../../../support/operator/crash-scenarios.ts';
import { startOperatorStage, type OperatorStage } from '../../../support/operator/crash-stage.ts';
import { startOperatorRelay, type OperatorRelay } from '../../../support/operator/operator-process.ts';

interface Row {
  scenario: string;
  effects: number;
  crashes: number;
  notReached: number;
}

const SCENARIO_TIMEOUT_MS = 900_000;
/** More are made at once than one by one in the same time; each one is looked at by every operator that starts. */
const SCENES_AT_ONCE = 6;

describe('an operator that kill -9 ends between any two effects', function () {
  this.timeout(SCENARIO_TIMEOUT_MS);
  let cluster: KubernetesCluster;
  let stage: OperatorStage;
  let relay: OperatorRelay;
  const rows: Row[] = [];

  before(async function () {
    cluster = await requireOwnKubernetes(this);
    stage = await startOperatorStage(cluster);
    relay = startOperatorRelay({ flags: stage.throughProxy });
  });
  after(async () => {
    await relay?.stop();
    await stage?.close();
    await cluster?.stop();
    const report = renderTable(rows);
    process.stdout.write(`${report}\n`);
    if (process.env['CRASH_TABLE_FILE'] !== undefined) await writeFile(process.env['CRASH_TABLE_FILE'], report);
  });

  for (const scenario of CRASH_SCENARIOS) {
    it(`leaves to the next one what ends as without a crash: ${scenario.name}`, async () => {
      const { prepared: undisturbed, effects, state } = await runWithoutCrash(stage, scenario);
      expect(outlineOf(state)).to.deep.equal(scenario.expected);

      const points = effects.flatMap((_, index): CrashPoint[] => [
        { index, side: 'before' },
        { index, side: 'after' },
      ]);
      const row = { scenario: scenario.name, effects: effects.length, crashes: 0, notReached: 0 };
      await clearScene(undisturbed.scene);
      for (let first = 0; first < points.length; first += SCENES_AT_ONCE) {
        const some = points.slice(first, first + SCENES_AT_ONCE);
        const scenes = await Promise.all(some.map(() => prepareScene(stage, scenario)));
        for (const [number, point] of some.entries()) {
          const run = { prepared: scenes[number]!, point, expected: state };
          if (await runWithCrash(stage, relay, scenario, run)) row.crashes++;
          else row.notReached++;
        }
        await Promise.all(scenes.map((scene) => expectState(stage, scene, state)));
        await Promise.all(scenes.map(({ scene }) => clearScene(scene)));
      }
      rows.push(row);
    });
  }
});

function renderTable(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ scenario, effects, crashes, notReached }) => `| ${scenario} | ${effects} | ${crashes} | ${notReached} | yes |`,
  );
  const header = [
    '| Scenario | Effects | Crashes | Not reached | All ends equal |',
    '| --- | ---: | ---: | ---: | --- |',
  ];
  return [...header, ...lines, ''].join('\n');
}
