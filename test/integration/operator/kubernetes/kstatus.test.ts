import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes, type KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { healthOf, requireHealth } from '../../../support/kubernetes/health.ts';
import { startChartOperator, type ChartOperator } from '../../../support/operator/chart-operator.ts';
import { createUser, declared, type User } from '../../../support/operator/declared-life.ts';
import { startRunningReactors, type RunningReactors } from '../../../support/operator/running-reactors.ts';

const TIMEOUT_MS = 600_000;
const OPERATOR = 'tokenkeep-system/tokenkeep-operator';
const APPLICATION = { type: 'private', permissions: ['token:create'] };
const CODE = 'module.exports = async () => ({ raw: 1 });';

interface Case {
  readonly kind: string;
  readonly name: string;
  /** What comes before, if anything: other documents. */
  readonly others?: readonly object[];
  readonly spec: object;
  readonly metadata?: object;
  readonly condition: string;
  readonly reason?: string;
  readonly kstatus: string;
  readonly argo: string;
}

const rule = (name: string): object => ({
  applicationRef: { name },
  ...{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
});

const READY = { condition: 'Ready', kstatus: 'Current', argo: 'Healthy' };
const WAITING = { condition: 'Reconciling', kstatus: 'InProgress', argo: 'Progressing' };
const STALLED = { condition: 'Stalled', kstatus: 'Failed', argo: 'Degraded' };

const CASES: Record<string, Case> = {
  'an Application in force': { kind: 'Application', name: 'shop', spec: APPLICATION, ...READY },
  'an AccessRule in force': {
    ...{ kind: 'AccessRule', name: 'in-force', spec: rule('ruled'), ...READY },
    others: [declared('Application', 'ruled', { spec: APPLICATION })],
  },
  'a Tenant in force': { kind: 'Tenant', name: 'of-kstatus', spec: {}, ...READY },
  'an AccessRule without its Application': {
    ...{ kind: 'AccessRule', name: 'too-early', spec: rule('not-there'), ...WAITING },
    reason: 'ApplicationNotFound',
  },
  'an Application without the Secret of its key': {
    ...{ kind: 'Application', name: 'too-early', ...WAITING },
    spec: { ...APPLICATION, key: { fromSecret: { name: 'not-there', key: 'key' } } },
    reason: 'SecretEntryNotFound',
  },
  'a Reactor that nothing runs': {
    ...{ kind: 'Reactor', name: 'idle', spec: { code: CODE }, ...WAITING },
    reason: 'NoRuntime',
  },
  'an AccessRule whose priority an older one has': {
    ...{ kind: 'AccessRule', name: 'younger', spec: rule('contested'), ...STALLED },
    others: [
      declared('Application', 'contested', { spec: APPLICATION }),
      declared('AccessRule', 'older', { spec: rule('contested') }),
    ],
    reason: 'PriorityConflict',
  },
  'an Application whose Secret is not ours': {
    ...{ kind: 'Application', name: 'robbed', spec: APPLICATION, ...STALLED },
    others: [declared('Secret', 'robbed-api-key', { stringData: { note: 'theirs' } })],
    reason: 'SecretNotOurs',
  },
  'a paused Application': {
    ...{ kind: 'Application', name: 'paused', spec: APPLICATION, condition: 'Paused' },
    metadata: { annotations: { 'tokenkeep.dev/pause': 'true' } },
    ...{ kstatus: 'InProgress', argo: 'Suspended' },
  },
};

/** What kstatus, and our check for Argo CD, say. */
async function verdicts(object: object): Promise<{ kstatus: string; argo: string }> {
  const [health] = await healthOf([object]);
  return { kstatus: health!.kstatus.status, argo: health!.argo.status };
}

describe('what GitOps tools make of', function () {
  this.timeout(TIMEOUT_MS);
  let cluster: KubernetesCluster;
  let operator: ChartOperator;
  let user: User;

  before(async function () {
    await requireHealth(this);
    cluster = await requireKubernetes(this);
    user = createUser(cluster, await cluster.namespace());
    operator = await startChartOperator(cluster, { serviceAccount: OPERATOR, namespaces: [user.namespace] });
  });
  after(async () => {
    if (operator === undefined) return;
    await operator.stop();
    // Of the whole cluster: other tests' operators would look after it.
    const { name } = CASES['a Tenant in force']!;
    await patch('tenant', name, { metadata: { finalizers: [] } });
    await cluster.demand(['delete', 'tenant', name]);
  });

  const patch = (kind: string, name: string, change: object): Promise<string> =>
    cluster.demand(['patch', kind, name, '-n', user.namespace, '--type=merge', '-p', JSON.stringify(change)]);

  for (const [what, { kind, name, others = [], spec, metadata, condition, reason, kstatus, argo }] of Object.entries(
    CASES,
  )) {
    it(`${what}: ${kstatus}, ${argo}`, async () => {
      await user.apply(...others, declared(kind, name, { spec }, metadata));
      const object = await user.waitFor(kind, name, condition, reason);
      expect(await verdicts(object)).to.deep.equal({ kstatus, argo });
    });
  }

  it('one that was in force and is paused: Current, Suspended', async () => {
    await user.apply(declared('Application', 'halted', { spec: APPLICATION }));
    await user.waitFor('application', 'halted', 'Ready');
    await patch('application', 'halted', { metadata: { annotations: { 'tokenkeep.dev/pause': 'true' } } });
    const object = await user.waitFor('application', 'halted', 'Paused');
    expect(await verdicts(object)).to.deep.equal({ kstatus: 'Current', argo: 'Suspended' });
  });

  it('one that no operator has seen yet: InProgress, Progressing', async () => {
    const elsewhere = createUser(cluster, await cluster.namespace());
    await elsewhere.apply(declared('Application', 'shop', { spec: APPLICATION }));
    const object = await elsewhere.get('application', 'shop');
    expect(await verdicts(object)).to.deep.equal({ kstatus: 'InProgress', argo: 'Progressing' });
  });

  it('one that is being deleted: Terminating, Progressing', async () => {
    await user.apply(declared('Application', 'leaving', { spec: APPLICATION }));
    await user.waitFor('application', 'leaving', 'Ready');
    await patch('application', 'leaving', { metadata: { finalizers: ['example.com/held', 'tokenkeep.dev/cleanup'] } });
    await cluster.demand(['delete', 'application', 'leaving', '-n', user.namespace, '--wait=false']);
    const object = await user.get('application', 'leaving');
    expect(await verdicts(object)).to.deep.equal({ kstatus: 'Terminating', argo: 'Progressing' });
    await eventually(
      async () => {
        const { metadata } = await user.get<{ metadata: { finalizers?: string[] } }>('application', 'leaving');
        expect(metadata.finalizers).to.deep.equal(['example.com/held']);
      },
      { deadlineMs: 120_000 },
    );
    await patch('application', 'leaving', { metadata: { finalizers: [] } });
  });

  it('kubectl, which waits for Ready and no longer', async () => {
    const documents = ['one', 'two'].map((name) => declared('Application', name, { spec: APPLICATION }));
    await user.apply(...documents);
    const wait = ['wait', '--for=condition=Ready', '--timeout=120s', '-n', user.namespace];
    const { code, stdout } = await cluster.kubectl([...wait, 'application/one', 'application/two']);
    expect(code).to.equal(0);
    expect(stdout).to.include('application.tokenkeep.dev/one condition met');
    for (const name of ['one', 'two']) {
      expect(await verdicts(await user.get('application', name))).to.deep.equal({
        kstatus: 'Current',
        argo: 'Healthy',
      });
    }
  });

  // The last: there is no operator after it.
  it('one that has changed since the operator last looked: InProgress, Progressing', async () => {
    await operator.stop();
    await patch('application', 'shop', { spec: { displayName: 'Changed' } });
    const object = await user.get('application', 'shop');
    expect(await verdicts(object)).to.deep.equal({ kstatus: 'InProgress', argo: 'Progressing' });
  });
});

describe('what GitOps tools make of a Reactor that runs', function () {
  this.timeout(TIMEOUT_MS);
  let running: RunningReactors;

  before(async function () {
    await requireHealth(this);
    running = await startRunningReactors(await requireKubernetes(this));
  });
  after(() => running?.close());

  const isJudged = (name: string, reason: string, expected: { kstatus: string; argo: string }) =>
    eventually(
      async () => {
        const object = await running.read(name);
        const conditions = object.status?.conditions ?? [];
        expect(conditions.find(({ type }) => type === 'Ready')?.reason, JSON.stringify(conditions)).to.equal(reason);
        expect(await verdicts(object)).to.deep.equal(expected);
      },
      { deadlineMs: 60_000, everyMs: 100 },
    );

  it('and of which nothing runs, since nobody calls: Current, Healthy', async () => {
    const scaling = { minReplicas: 0, maxReplicas: 1, concurrency: 1, idleSeconds: 600 };
    await running.declare('asleep', { displayName: 'Asleep', code: CODE, scaling });
    await isJudged('asleep', 'ScaledToZero', { kstatus: 'Current', argo: 'Healthy' });
  });

  it('and whose code is stopped again and again: Failed, Degraded', async () => {
    const scaling = { minReplicas: 1, maxReplicas: 1, concurrency: 1, idleSeconds: 600 };
    const code = 'module.exports = async ({ args }) => { while (args.hang) {} return { raw: 1 }; };';
    const id = await running.declare('hasty', { displayName: 'Hasty', code, timeoutSeconds: 1, scaling });
    await eventually(async () => expect((await running.react(id)).status).to.equal(200), { deadlineMs: 60_000 });
    await isJudged('hasty', 'Reconciled', { kstatus: 'Current', argo: 'Healthy' });
    for (let call = 0; call < 5; call += 1) expect((await running.react(id, { hang: true })).status).to.equal(504);
    await isJudged('hasty', 'Degraded', { kstatus: 'Failed', argo: 'Degraded' });
  });
});
