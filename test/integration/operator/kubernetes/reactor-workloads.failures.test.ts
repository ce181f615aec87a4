import { expect } from 'chai';
import type { ReactorWorkload } from '../../../../src/domain/declarations.ts';
import { workloadName } from '../../../../src/operator/workloads/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { workloadWith } from '../../../support/operator/reactor-cluster.ts';
import type { ReactorCluster } from '../../../support/operator/reactor-cluster.ts';
import { useReactorCluster } from '../../../support/operator/use-reactor-cluster.ts';

const WAIT = { deadlineMs: 30_000 };
/** One that nothing but a policy of the test's own refuses. */
const TRIAL_POD = {
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'trial' } },
  spec: {
    securityContext: { runAsNonRoot: true, runAsUser: 1, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        ...{ name: 'trial', image: 'none' },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

describe('what keeps reactors from running in a cluster', function () {
  this.timeout(120_000);
  let bench: ReactorCluster;
  useReactorCluster((made) => (bench = made));

  const stateOf = ({ tenantId, reactorId }: ReactorWorkload) => bench.told.get(`${tenantId}/${reactorId}`);
  const failsAs = (workload: ReactorWorkload, failureReason: string, says: string | RegExp) =>
    eventually(() => {
      expect(stateOf(workload)).to.include({ failureReason });
      expect(stateOf(workload)!.failure).to.match(says instanceof RegExp ? says : new RegExp(says));
    }, WAIT);
  const recovers = (workload: ReactorWorkload) =>
    eventually(() => {
      expect(stateOf(workload)).not.to.have.any.keys('failure', 'failureReason');
    }, WAIT);

  const container = (state: object, lastState: object = {}) => ({
    phase: 'Running',
    containerStatuses: [
      { ...{ name: 'reactor', image: 'i', imageID: '', ready: false, restartCount: 3 }, state, lastState },
    ],
  });
  const ended = (exitCode: number, more: object = {}) => ({
    terminated: { exitCode, startedAt: null, finishedAt: null, ...more },
  });
  const backingOff = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' } };
  const cases: [what: string, status: object, reason: string, says: RegExp][] = [
    [
      'an image that cannot be pulled',
      container({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "nowhere/it"' } }),
      'ImagePullFailed',
      /Check --reactor-image .*Back-off pulling image/,
    ],
    [
      'an image whose name is none',
      container({ waiting: { reason: 'InvalidImageName', message: 'Failed to apply default image tag' } }),
      'ImagePullFailed',
      /InvalidImageName/,
    ],
    [
      'instances that end, with their last word',
      container(backingOff, ended(1, { reason: 'Error', message: 'The certificate\nis unreadable' })),
      'CrashLooping',
      /exit code 1 .*saying: The certificate is unreadable\. Look at the logs/,
    ],
    [
      'too little memory',
      container(backingOff, ended(137, { reason: 'OOMKilled' })),
      'CrashLooping',
      /Raise spec\.resources\.limits\.memory/,
    ],
    [
      'code that cannot be loaded',
      container(ended(65, { reason: 'Error', message: 'ReferenceError in line 3' })),
      'CodeRefused',
      /ReferenceError in line 3\. Change the code/,
    ],
    [
      'a container that cannot be made',
      container({ waiting: { reason: 'CreateContainerConfigError', message: 'secret "x" not found' } }),
      'NotReady',
      /secret "x" not found/,
    ],
    [
      'no node with room',
      {
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' },
        ],
      },
      'Unschedulable',
      /Add nodes.*0\/3 nodes are available/,
    ],
  ];
  for (const [what, status, reason, says] of cases) {
    it(`is told: ${what}`, async () => {
      const workload = workloadWith();
      await bench.start().apply(workload, 1);
      const [pod] = await bench.pods(workload, 1);
      await recovers(workload);
      await bench.report(pod!, status);
      await failsAs(workload, reason, says);
      await bench.report(pod!, { containerStatuses: null, conditions: null });
      await bench.ready(pod!, '10.0.0.1');
      await recovers(workload);
    });
  }

  it('is no former crash of an instance that runs now', async () => {
    const workload = workloadWith();
    await bench.start().apply(workload, 1);
    const [pod] = await bench.pods(workload, 1);
    await bench.report(pod!, container({ running: { startedAt: new Date().toISOString() } }, ended(1)));
    await bench.ready(pod!, '10.0.0.1');
    await eventually(() => expect(stateOf(workload)?.ready).to.have.length(1), WAIT);
    expect(stateOf(workload)).not.to.have.any.keys('failure', 'failureReason');
  });

  it('is told: a quota without room, and no more once there is', async () => {
    const workload = workloadWith();
    const allowing = async (memory: string): Promise<void> => {
      const hard = { 'requests.memory': memory };
      await bench.patch('resourcequotas', 'small', { spec: { hard } });
      // As the controller of quotas does, which these tests do not run.
      await bench.patch('resourcequotas', 'small', { status: { hard, used: { 'requests.memory': '0' } } }, 'status');
    };
    await bench.create('resourcequotas', { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'small' } });
    await allowing('100Mi');
    await bench.start().apply(workload, 1);
    await failsAs(workload, 'QuotaExceeded', /Raise the ResourceQuota .*exceeded quota: small/);
    await allowing('10Gi');
    await bench.cluster.demand(['delete', 'replicasets', '--all', '-n', bench.namespace]);
    await bench.pods(workload, 1);
    await recovers(workload);
  });

  it('is told: pods that the namespace does not admit', async () => {
    const workload = workloadWith();
    const everything = 'example.com/nothing-runs-here';
    await bench.cluster.demand(['create', '-f', '-'], {
      input: JSON.stringify(refusingPolicy(everything, bench.namespace)),
    });
    try {
      // The API server takes a policy up some time after it took it in.
      await eventually(async () => {
        const trial = ['create', '--dry-run=server', '-n', bench.namespace, '-f', '-'];
        const { stderr } = await bench.cluster.kubectl(trial, { input: JSON.stringify(TRIAL_POD) });
        expect(stderr).to.include('no pods here');
      }, WAIT);
      await bench.start().apply(workload, 1);
      await failsAs(workload, 'PodRefused', /does not let .* in.*no pods here/);
    } finally {
      await bench.cluster.demand([
        'delete',
        'validatingadmissionpolicies,validatingadmissionpolicybindings',
        '-l',
        everything,
      ]);
    }
  });

  it('is told: what the operator may not do, and it goes on once it may', async () => {
    const workload = workloadWith();
    const { rules } = JSON.parse(
      await bench.cluster.demand(['get', 'role', 'operator', '-n', bench.namespace, '-o', 'json']),
    ) as { rules: { resources: string[] }[] };
    const roleWith = async (list: object[]) => {
      const patch = JSON.stringify({ rules: list });
      await bench.cluster.demand(['patch', 'role', 'operator', '-n', bench.namespace, '--type=merge', '-p', patch]);
    };
    await roleWith(
      rules.map((rule) => (rule.resources[0] === 'networkpolicies' ? { ...rule, verbs: ['list', 'watch'] } : rule)),
    );
    await bench.start().apply(workload, 1);
    await failsAs(workload, 'PodRefused', /networkpolicies/);
    // No pod without its wall.
    expect((await bench.list('deployments')).map(({ metadata }) => metadata.name)).not.to.include(
      workloadName(workload),
    );
    await roleWith(rules);
    await bench.pods(workload, 1);
    await recovers(workload);
  });
});

/** Refuses every pod of a namespace. */
function refusingPolicy(label: string, namespace: string): object {
  const metadata = { name: `no-pods-${namespace}`, labels: { [label]: '' } };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return {
    ...{ apiVersion: 'v1', kind: 'List' },
    items: [
      {
        ...{ apiVersion, kind: 'ValidatingAdmissionPolicy', metadata },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
          },
          validations: [{ expression: 'false', message: 'no pods here' }],
        },
      },
      {
        ...{ apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata },
        spec: {
          policyName: metadata.name,
          validationActions: ['Deny'],
          matchResources: {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          },
        },
      },
    ],
  };
}
