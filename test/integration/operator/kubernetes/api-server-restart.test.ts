import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { requireOwnKubernetes, type KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { declareFleet, fleetGone, fleetNames, fleetReady, readFleet } from '../../../support/operator/crash-fleet.ts';
import { clearScene, createScene, type Scene } from '../../../support/operator/crash-scene.ts';
import { startOperatorStage, type OperatorStage } from '../../../support/operator/crash-stage.ts';
import { startOperatorProcess, type OperatorProcess } from '../../../support/operator/operator-process.ts';

const TIMEOUT_MS = 300_000;
const DEADLINE_MS = 120_000;
/** Applications that an operator works on at a time. */
const WORKERS = 8;

describe('an operator and what goes away from under it', function () {
  this.timeout(TIMEOUT_MS);
  let cluster: KubernetesCluster;
  let stage: OperatorStage;
  let operator: OperatorProcess;
  let scene: Scene;

  before(async function () {
    cluster = await requireOwnKubernetes(this);
    stage = await startOperatorStage(cluster);
    operator = startOperatorProcess({ flags: stage.throughProxy });
  });
  after(async () => {
    operator?.signal('SIGKILL');
    await operator?.ended;
    await stage?.close();
    await cluster?.stop();
  });
  beforeEach(async () => {
    scene = await createScene(stage.client);
  });
  afterEach(async () => {
    stage.proxy.cutInternalApi(false);
    await clearScene(scene);
    await fleetGone(scene, stage.vault.database);
  });

  /** Declares 50 Applications, and does something in the midst of what follows from that. */
  async function declareWhile(names: readonly string[], interrupt: () => Promise<void>): Promise<void> {
    const { promise: isAmid, resolve: reach } = Promise.withResolvers<void>();
    const hold = async (): Promise<void> => reach();
    stage.proxy.begin(scene.concerns, { index: names.length, hold });
    await declareFleet(scene, names);
    await isAmid;
    await interrupt();
  }

  it('goes on where it was when the API server is killed and comes back', async () => {
    const names = fleetNames(50);
    await declareWhile(names, async () => {
      await cluster.killApiServer();
      await cluster.startApiServer();
    });
    const fleet = await fleetReady(scene, stage.vault.database, names);
    expect(fleet.flatMap(({ endingKeys }) => endingKeys)).to.deep.equal([]);

    await scene.patch('Application', names[0]!, { spec: { displayName: 'renamed' } });
    await eventually(
      async () => {
        const members = await readFleet(scene, stage.vault.database);
        expect(members.map(({ name }) => name)).to.include('renamed');
      },
      { deadlineMs: DEADLINE_MS },
    );
  });

  it('goes on where it was when etcd is killed and comes back', async () => {
    const names = fleetNames(50);
    await declareWhile(names, async () => {
      await cluster.killStore();
      await eventually(async () => expect((await cluster.kubectl(['get', '--raw', '/readyz'])).code).not.to.equal(0), {
        deadlineMs: DEADLINE_MS,
      });
      cluster.startStore();
    });
    await fleetReady(scene, stage.vault.database, names);
  });

  it('waits while the internal API is away, and leaves alone all but those that it was working on', async () => {
    const { database } = stage.vault;
    const settled = fleetNames(30);
    await declareFleet(scene, settled);
    await fleetReady(scene, database, settled);

    stage.proxy.cutInternalApi(true);
    await declareFleet(scene, ['late']);
    await eventually(() => expect(operator.output()).to.include('The internal API is away'), {
      deadlineMs: DEADLINE_MS,
    });
    const away = (await readFleet(scene, database)).filter(({ isReady }) => !isReady);
    expect(away.map(({ name }) => name)).to.include('late');
    expect(away).to.have.length.of.at.most(1 + WORKERS);

    stage.proxy.cutInternalApi(false);
    await fleetReady(scene, database, [...settled, 'late']);
  });
});
