import { expect } from 'chai';
import { createLeaseElector } from '../../../../src/operator/kubernetes/lease-elector.ts';
import type { LeaseElector, LeaseElectorOptions } from '../../../../src/operator/kubernetes/lease-elector.ts';
import { leasePath } from '../../../../src/operator/kubernetes/lease.ts';
import type { Lease } from '../../../../src/operator/kubernetes/lease.ts';
import { systemTimers } from '../../../../src/operator/timers.ts';
import type { KubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes, requireOwnKubernetes } from '../../../support/kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { clientOf } from '../../../support/operator/kubernetes-plane.ts';

const NAME = 'tokenkeep-operator';
const PATIENCE = { deadlineMs: 90_000, everyMs: 100 };

interface Candidate {
  client: KubernetesClient;
  elector: LeaseElector;
  state: { isLeading: boolean; lost: string | undefined };
}

describe('who leads, on a real Kubernetes API', function () {
  this.timeout(180_000);
  let cluster: KubernetesCluster;
  let namespace: string;
  let admin: KubernetesClient;
  const candidates: Candidate[] = [];

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
    admin = clientOf(cluster.adminKubeconfig);
  });
  beforeEach(async () => {
    namespace = await cluster.namespace();
  });
  afterEach(async () => {
    await Promise.all(candidates.map(({ elector }) => elector.stop()));
    for (const { client } of candidates.splice(0)) client.close();
  });
  after(() => admin?.close());

  /** A process that wants to lead, over a connection of its own; faster than in earnest. */
  function start(
    identity: string,
    options: Partial<LeaseElectorOptions> = {},
    kubeconfig = cluster.adminKubeconfig,
  ): Candidate {
    const client = clientOf(kubeconfig);
    const elector = createLeaseElector({
      ...{ client, namespace, name: NAME, identity, logger: silentLogger },
      ...{ leaseMs: 6_000, renewDeadlineMs: 4_000, retryMs: 500 },
      ...options,
    });
    const state: Candidate['state'] = { isLeading: false, lost: undefined };
    void elector.leading.then(() => (state.isLeading = true));
    void elector.lost.then(({ message }) => (state.lost = message));
    elector.start();
    const candidate = { client, elector, state };
    candidates.push(candidate);
    return candidate;
  }

  const lease = () => admin.read<Lease>(leasePath(namespace, NAME));
  const specOf = async () => (await lease())?.spec;

  /** Resolves once the holder has renewed so many times. */
  async function renewals(count: number): Promise<void> {
    const seen = new Set<string | undefined>();
    await eventually(async () => {
      seen.add((await specOf())?.renewTime);
      expect(seen.size).to.be.above(count);
    }, PATIENCE);
  }

  it('another leads once the one that led is cut off, and not before that one has ended', async () => {
    const first = start('first');
    await first.elector.leading;
    const second = start('second');
    await renewals(2);

    const order: string[] = [];
    void first.elector.lost.then(() => order.push('first lost'));
    void second.elector.leading.then(() => order.push('second leads'));
    first.client.close();
    await eventually(() => expect(order).to.have.length(2), PATIENCE);
    expect(order).to.deep.equal(['first lost', 'second leads']);
    expect(await specOf()).to.include({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  it('another leads soon after the one that led has stopped', async () => {
    const first = start('first', { leaseMs: 3_600_000, renewDeadlineMs: 1_800_000 });
    await first.elector.leading;
    const second = start('second');
    await first.elector.stop();
    await eventually(() => expect(second.state.isLeading).to.be.true, PATIENCE);
    expect(first.state.lost).to.be.undefined;
    expect(await specOf()).to.include({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  it('clocks that are an hour apart let nobody take over from one who renews', async () => {
    const clockAt = (skewMs: number) => ({ ...systemTimers, now: () => Date.now() + skewMs });
    const late = start('late', { clock: clockAt(-3_600_000) });
    await late.elector.leading;
    const others = [start('right'), start('early', { clock: clockAt(3_600_000) })];
    // For longer than a lease lasts.
    await renewals(16);
    expect(others.map(({ state }) => state.isLeading)).to.deep.equal([false, false]);
    expect(late.state.lost).to.be.undefined;
    expect(Date.parse((await specOf())?.renewTime ?? '')).to.be.below(Date.now() - 3_000_000);
  });

  it('a lease that nobody has held yet, as Helm makes it, is taken at once', async () => {
    const metadata = { name: NAME, labels: { 'app.kubernetes.io/managed-by': 'Helm' } };
    const made = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
    await cluster.demand(['create', '-n', namespace, '-f', '-'], { input: JSON.stringify(made) });
    const { state } = start('a');
    await eventually(() => expect(state.isLeading).to.equal(true), { deadlineMs: 4_000, everyMs: 100 });
    expect(((await lease()) as unknown as { metadata: object }).metadata).to.deep.include({ labels: metadata.labels });
  });

  it('a lease that is deleted is made again by whoever leads', async () => {
    const first = start('first');
    await first.elector.leading;
    await cluster.demand(['delete', 'lease', NAME, '-n', namespace]);
    await eventually(async () => expect((await specOf())?.holderIdentity).to.equal('first'), PATIENCE);
    expect(first.state.lost).to.be.undefined;
  });

  it('whoever led ends where somebody writes another holder into the lease, and leaves it so', async () => {
    const first = start('first');
    await first.elector.leading;
    const patch = JSON.stringify({ spec: { holderIdentity: 'somebody' } });
    await cluster.demand(['patch', 'lease', NAME, '-n', namespace, '--type=merge', '-p', patch]);
    await eventually(() => expect(first.state.lost).to.include('somebody holds the lease'), PATIENCE);
    await first.elector.stop();
    expect((await specOf())?.holderIdentity).to.equal('somebody');
  });

  it("the chart's own role is enough", async () => {
    const kubeconfig = await cluster.kubeconfigFor('tokenkeep-system/tokenkeep-operator');
    const operator = start('operator', { namespace: 'tokenkeep-system' }, kubeconfig);
    await operator.elector.leading;
    await operator.elector.stop();
    const released = await admin.read<Lease>(leasePath('tokenkeep-system', NAME));
    expect(released?.spec?.holderIdentity).to.equal('');
  });

  describe('while the API server is away', () => {
    let own: KubernetesCluster;

    before(async function () {
      this.timeout(600_000);
      own = await requireOwnKubernetes(this);
    });
    after(() => own?.stop());

    it('for longer than may pass without renewing, whoever led ends, and the next one leads later', async () => {
      const at = { namespace: 'default' };
      const first = start('first', at, own.adminKubeconfig);
      await first.elector.leading;
      await own.killApiServer();
      await eventually(() => expect(first.state.lost).to.include('could not be renewed'), PATIENCE);
      const second = start('second', at, own.adminKubeconfig);
      await own.startApiServer();
      await eventually(() => expect(second.state.isLeading).to.be.true, PATIENCE);
    });
  });
});
