import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import {
  annotateSecrets,
  declareFleet,
  fleetGone,
  fleetNames,
  fleetReady,
  type FleetMember,
} from '../../../support/operator/crash-fleet.ts';
import { clearScene, createScene, type Scene } from '../../../support/operator/crash-scene.ts';
import { electing, startOperatorStage, type OperatorStage } from '../../../support/operator/crash-stage.ts';
import { dropOperatorLease, readOperatorLease } from '../../../support/operator/operator-lease.ts';
import { startOperatorProcess, type OperatorProcess } from '../../../support/operator/operator-process.ts';

const TIMEOUT_MS = 300_000;
const DEADLINE_MS = 120_000;
const HOUR_MS = 3600_000;
const ROTATED = { rotateAfter: '48h', overlap: '24h' };
const SKEWS = [
  { name: 'an hour ahead', clockShiftMs: HOUR_MS },
  { name: 'an hour behind', clockShiftMs: -HOUR_MS },
];

describe('an operator whose clock is wrong', function () {
  this.timeout(TIMEOUT_MS);
  let stage: OperatorStage;
  let scene: Scene;
  let operators: OperatorProcess[] = [];

  const start = (flags: readonly string[], clockShiftMs = 0): OperatorProcess => {
    const operator = startOperatorProcess({ flags: [...flags, '--watch-namespaces', scene.namespace], clockShiftMs });
    operators.push(operator);
    return operator;
  };
  /** How often each Secret was written since it was made, and by whom it would be written next. */
  const versions = async (): Promise<(string | undefined)[]> => {
    const secrets = await scene.list('Secret');
    return secrets.map(({ metadata }) => metadata.resourceVersion).sort();
  };

  before(async function () {
    stage = await startOperatorStage(await requireKubernetes(this));
  });
  after(() => stage?.close());
  beforeEach(async () => {
    await dropOperatorLease(stage.client);
    scene = await createScene(stage.client);
  });
  afterEach(async () => {
    for (const operator of operators) operator.signal('SIGKILL');
    await Promise.all(operators.map(({ ended }) => ended));
    operators = [];
  });

  for (const { name, clockShiftMs } of SKEWS) {
    it(`replaces keys once beside one whose clock is right: ${name}`, async () => {
      const { database } = stage.vault;
      const names = fleetNames(20);
      start(stage.directly, clockShiftMs);
      start(stage.directly);
      await declareFleet(scene, names, ROTATED);
      const made = await fleetReady(scene, database, names);

      // Past its age by the clock that is ahead of the other, and not yet by that one.
      const dueAt = Date.now() - 48 * HOUR_MS + Math.max(clockShiftMs, 0) - HOUR_MS / 2;
      await annotateSecrets(scene, names, { 'tokenkeep.dev/key-created-at': new Date(dueAt).toISOString() });
      const rotated = await fleetReady(scene, database, names, ({ endingKeys }) => endingKeys.length > 0);
      expect(rotated.map(({ endingKeys }) => endingKeys)).to.deep.equal(made.map(({ openKeys }) => openKeys));

      // Both look at all of it again; neither finds anything to do.
      const before = await versions();
      const looked = 'tokenkeep.test/looked';
      await Promise.all(
        names.map((each) => scene.patch('Application', each, { metadata: { annotations: { [looked]: 'again' } } })),
      );
      await declareFleet(scene, ['last'], ROTATED);
      await fleetReady(scene, database, [...names, 'last']);
      const unchanged = new Set(await versions());
      expect(before.filter((version) => !unchanged.has(version))).to.deep.equal([]);
      const openKeys = (fleet: readonly FleetMember[]): (readonly string[])[] => fleet.map((member) => member.openKeys);
      const now = await fleetReady(scene, database, [...names, 'last']);
      expect(openKeys(now.filter((member) => member.name !== 'last'))).to.deep.equal(openKeys(rotated));

      await clearScene(scene);
      await fleetGone(scene, database);
    });

    it(`leads, and is followed only once it is gone: ${name}`, async () => {
      const lease = () => readOperatorLease(stage.client);
      const leader = start(electing(stage.directly), clockShiftMs);
      const { holder } = await eventually(lease, { deadlineMs: DEADLINE_MS });
      const follower = start(electing(stage.directly));

      const renewals = new Set<string | undefined>();
      await eventually(
        async () => {
          const now = await lease();
          expect(now.holder).to.equal(holder);
          renewals.add(now.renewTime);
          expect(renewals.size).to.be.at.least(8);
        },
        { deadlineMs: DEADLINE_MS, everyMs: 100 },
      );
      leader.signal('SIGKILL');
      await eventually(async () => expect((await lease()).holder).not.to.equal(holder), { deadlineMs: DEADLINE_MS });
      follower.signal('SIGTERM');
      expect(await follower.ended).to.equal(0);
    });
  }
});
