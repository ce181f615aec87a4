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
import type { EffectFilter } from '../../../support/operator/effects-proxy.ts';
import { dropOperatorLease, readOperatorLease } from '../../../support/operator/operator-lease.ts';
import { startOperatorProcess, type OperatorProcess } from '../../../support/operator/operator-process.ts';

const TIMEOUT_MS = 300_000;
const DEADLINE_MS = 120_000;
const LONG_AGO = { 'tokenkeep.dev/key-created-at': new Date(Date.now() - 60 * 24 * 3600_000).toISOString() };
const ROTATED = { rotateAfter: '720h', overlap: '24h' };

const openKeysOf = (fleet: readonly FleetMember[]): (readonly string[])[] => fleet.map(({ openKeys }) => openKeys);
const endingKeysOf = (fleet: readonly FleetMember[]): (readonly string[])[] =>
  fleet.map(({ endingKeys }) => endingKeys);
const hasEndingKey = ({ endingKeys }: FleetMember): boolean => endingKeys.length > 0;

describe('two operators', function () {
  this.timeout(TIMEOUT_MS);
  let stage: OperatorStage;
  let scene: Scene;
  let operators: OperatorProcess[] = [];

  const start = (flags: readonly string[]): OperatorProcess => {
    const operator = startOperatorProcess({ flags: [...flags, '--watch-namespaces', scene.namespace] });
    operators.push(operator);
    return operator;
  };
  const holder = async (): Promise<string> => (await readOperatorLease(stage.client)).holder;
  const leads = (): Promise<string> => eventually(holder, { deadlineMs: DEADLINE_MS, everyMs: 50 });
  const leadsAfter = (former: string): Promise<unknown> =>
    eventually(async () => expect(await holder()).not.to.equal(former), { deadlineMs: DEADLINE_MS, everyMs: 50 });

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

  it('that both reconcile leave one key per Application, made, replaced and deleted once', async () => {
    const { database } = stage.vault;
    const names = fleetNames(50);
    start(stage.directly);
    start(stage.directly);
    await declareFleet(scene, names, ROTATED);
    const made = await fleetReady(scene, database, names);
    expect(endingKeysOf(made).flat()).to.deep.equal([]);

    await annotateSecrets(scene, names, LONG_AGO);
    const rotated = await fleetReady(scene, database, names, hasEndingKey);
    expect(endingKeysOf(rotated)).to.deep.equal(openKeysOf(made));

    await Promise.all(names.map((name) => scene.remove('Secret', `${name}-api-key`)));
    const lost = new Set(openKeysOf(rotated).flat());
    await fleetReady(scene, database, names, ({ openKeys }) => openKeys.every((key) => !lost.has(key)));

    await clearScene(scene);
    await fleetGone(scene, database);
  });

  it('of which the leader is frozen: the other takes over, and the first one ends when it wakes', async () => {
    const { database } = stage.vault;
    const names = fleetNames(5);
    const leader = start(electing(stage.directly));
    const first = await leads();
    const follower = start(electing(stage.directly));
    await declareFleet(scene, names, ROTATED);
    const made = await fleetReady(scene, database, names);

    leader.signal('SIGSTOP');
    await annotateSecrets(scene, names, LONG_AGO);
    await leadsAfter(first);
    const rotated = await fleetReady(scene, database, names, hasEndingKey);
    expect(endingKeysOf(rotated)).to.deep.equal(openKeysOf(made));

    leader.signal('SIGCONT');
    expect(await leader.ended).to.equal(1);
    expect(await fleetReady(scene, database, names)).to.deep.equal(rotated);

    follower.signal('SIGTERM');
    expect(await follower.ended).to.equal(0);
    await clearScene(scene);
  });

  const LATE = [
    { request: 'the write of the Secret', index: 0, isRefused: true },
    { request: 'the declaration', index: 1, isRefused: false },
  ];
  for (const { request, index, isRefused } of LATE) {
    const outcome = isRefused ? 'is refused' : 'is put right';
    it(`of which the leader froze in a rotation: ${request} that comes late ${outcome}`, async () => {
      const { database } = stage.vault;
      const names = fleetNames(1);
      const leader = start(electing(stage.throughProxy));
      const first = await leads();
      await declareFleet(scene, names, ROTATED);
      await fleetReady(scene, database, names);

      const { promise: isFollowed, resolve: passOn } = Promise.withResolvers<void>();
      const { promise: isFrozen, resolve: freeze } = Promise.withResolvers<void>();
      const hold = async (): Promise<void> => {
        leader.signal('SIGSTOP');
        freeze();
        await isFollowed;
      };
      stage.proxy.begin(scene.concerns, { index, hold });
      await annotateSecrets(scene, names, LONG_AGO);
      await isFrozen;
      start(electing(stage.directly));
      await leadsAfter(first);
      const once = await fleetReady(scene, database, names, hasEndingKey);
      await annotateSecrets(scene, names, LONG_AGO);
      const isNext = ({ endingKeys }: FleetMember): boolean => endingKeys.includes(openKeysOf(once)[0]![0]!);
      const twice = await fleetReady(scene, database, names, isNext);

      passOn();
      leader.signal('SIGCONT');
      expect(await leader.ended).to.equal(1);
      const [now] = await fleetReady(scene, database, names, isNext);
      expect(now!.openKeys).to.deep.equal(openKeysOf(twice)[0]);
      await clearScene(scene);
      await fleetGone(scene, database);
    });
  }

  it('of which the leader froze in declaring what is deleted since: it does not come back to stay', async () => {
    const { database } = stage.vault;
    const names = fleetNames(1);
    const leader = start(electing(stage.throughProxy));
    const first = await leads();
    await declareFleet(scene, names);
    await fleetReady(scene, database, names);

    const { promise: isFollowed, resolve: passOn } = Promise.withResolvers<void>();
    const { promise: isFrozen, resolve: freeze } = Promise.withResolvers<void>();
    const hold = async (): Promise<void> => {
      leader.signal('SIGSTOP');
      freeze();
      await isFollowed;
    };
    const declares: EffectFilter = ({ method, path }) => method === 'PUT' && path.includes('/applications/');
    stage.proxy.begin(declares, { index: 0, hold });
    await scene.patch('Application', names[0]!, { spec: { permissions: ['token:create', 'token:read'] } });
    await isFrozen;
    start(electing(stage.directly));
    await leadsAfter(first);
    await clearScene(scene);
    await fleetGone(scene, database);

    passOn();
    leader.signal('SIGCONT');
    expect(await leader.ended).to.equal(1);
    await fleetGone(scene, database);
  });
});
