import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import { createScene, type Scene } from './crash-scene.ts';
import type { CrashScenario } from './crash-scenarios.ts';
import type { OperatorStage } from './crash-stage.ts';
import { readSceneState, type SceneState } from './crash-state.ts';
import type { Effect, StrikePlan } from './effects-proxy.ts';
import type { OperatorRelay } from './operator-process.ts';

export type CrashPoint = Pick<StrikePlan, 'index' | 'side'>;

/** A scene in which what a scenario needs is there and reconciled. */
export interface PreparedScene {
  readonly scene: Scene;
  /** Roles of values that the change may replace. */
  readonly known: Map<string, string>;
}

const DEADLINE_MS = 120_000;
/** What stays as it is for so long, with no effect under way, is settled. */
const QUIET_MS = 250;
/** What no operator can mend by itself: there is no runtime for reactors in these tests. */
const LASTING = new Set(['NoRuntime', 'NamespaceConflict']);

function isSettled({ cluster }: SceneState): boolean {
  return Object.entries(cluster).every(([name, state]) => {
    if (name.startsWith('Secret ')) return true;
    const { isDeleting, isObserved, conditions } = state as {
      isDeleting: boolean;
      isObserved: boolean;
      conditions: string[];
    };
    const isAtRest = conditions.some(
      (condition) => condition.startsWith('Ready=True') || LASTING.has(condition.split(' ')[1]!),
    );
    return !isDeleting && isObserved && isAtRest;
  });
}

/** The state of a scene once nothing changes it any more. */
export function settledState({ vault }: OperatorStage, { scene, known }: PreparedScene): Promise<SceneState> {
  return eventually(
    async () => {
      const before = await readSceneState(scene, vault.database, known);
      expect(isSettled(before), JSON.stringify(before.cluster)).to.equal(true);
      await delay(QUIET_MS);
      const after = await readSceneState(scene, vault.database, known);
      expect(after).to.deep.equal(before);
      return after;
    },
    { deadlineMs: DEADLINE_MS, everyMs: 50 },
  );
}

/** Rejects where a scene is not, at this moment, what it is to be. */
export async function expectState(
  { vault }: OperatorStage,
  { scene, known }: PreparedScene,
  expected: SceneState,
): Promise<void> {
  expect(await readSceneState(scene, vault.database, known)).to.deep.equal(expected);
}

/** Makes a scene and has the operator reconcile what the scenario needs. */
export async function prepareScene(stage: OperatorStage, scenario: CrashScenario): Promise<PreparedScene> {
  const scene = await createScene(stage.client);
  const prepared = { scene, known: new Map<string, string>() };
  await scenario.prepare(scene);
  await settledState(stage, prepared);
  const [secret] = await scene.list('Secret');
  const digest = secret?.metadata.annotations?.['tokenkeep.dev/key-digest'];
  if (digest !== undefined) prepared.known.set(digest, '<first key>');
  return prepared;
}

/** The effects of a scenario, and what it comes to, where nothing goes wrong. */
export async function runWithoutCrash(
  stage: OperatorStage,
  scenario: CrashScenario,
): Promise<{ prepared: PreparedScene; effects: readonly Effect[]; state: SceneState }> {
  const prepared = await prepareScene(stage, scenario);
  const { effects } = stage.proxy.begin(prepared.scene.concerns);
  await scenario.act(prepared.scene);
  await eventually(() => expect(effects.length).to.be.at.least(1), { deadlineMs: DEADLINE_MS });
  const state = await settledState(stage, prepared);
  return { prepared, state, effects: [...effects] };
}

/**
 * Ends the operator at one point of a scenario, and has the next one go on; false where the scenario was over before
 * that point was reached.
 *
 * @throws where the scene does not come to the expected state
 */
export async function runWithCrash(
  stage: OperatorStage,
  relay: OperatorRelay,
  scenario: CrashScenario,
  { prepared, point, expected }: { prepared: PreparedScene; point: CrashPoint; expected: SceneState },
): Promise<boolean> {
  const { scene } = prepared;
  const record = stage.proxy.begin(scene.concerns, { ...point, strike: () => relay.kill() });
  const isEqual = (): Promise<void> => expectState(stage, prepared, expected);
  const isOver = async (): Promise<void> => {
    if (record.hasStruck) return;
    const { length } = record.effects;
    await isEqual();
    await delay(QUIET_MS);
    if (!record.hasStruck) expect(record.effects).to.have.length(length);
  };
  await scenario.act(scene);
  await eventually(isOver, { deadlineMs: DEADLINE_MS });
  if (!record.hasStruck) {
    stage.proxy.begin(() => false);
    return false;
  }
  await relay.next();
  await eventually(isEqual, { deadlineMs: DEADLINE_MS, everyMs: 50 });
  return true;
}
