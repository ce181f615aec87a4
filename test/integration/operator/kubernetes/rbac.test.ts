import { expect } from 'chai';
import { createEndpointDirectory } from '../../../../src/operator/kubernetes/endpoint-directory.ts';
import type { ResourceKind } from '../../../../src/operator/sources/types.ts';
import { systemTimers } from '../../../../src/operator/timers.ts';
import { workloadName } from '../../../../src/operator/workloads/names.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { isWrite, readAuditLog, userOf, type AuditedRequest } from '../../../support/kubernetes/audit-log.ts';
import { requireOwnKubernetes, type KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { grantsOf, type Grant } from '../../../support/kubernetes/helm-grants.ts';
import { RELEASE, renderChart } from '../../../support/kubernetes/helm.ts';
import { startChartOperator, type ChartOperator } from '../../../support/operator/chart-operator.ts';
import { createUser, declared, liveThrough, type User } from '../../../support/operator/declared-life.ts';
import { allowNone } from '../../../support/operator/empty-quota.ts';
import { installKeda } from '../../../support/operator/keda.ts';
import { clientOf, createKubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { reactorClusterIn, workloadWith } from '../../../support/operator/reactor-cluster.ts';
import { writeStatusTooLate } from '../../../support/operator/late-status-write.ts';

const TIMEOUT_MS = 900_000;
const RULE = { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] };
const CODE = 'module.exports = async () => ({ raw: 1 });';
const OPERATOR = { namespace: RELEASE.namespace, name: 'tokenkeep-operator' };

function isUse({ action, names, namespace }: Grant, request: AuditedRequest): boolean {
  // Kubernetes asks for the right to create too where a patch makes what is not there.
  const isMadeByPatch = request.verb === 'patch' && request.code === 201;
  const isCreation = isMadeByPatch && action === request.action?.replace('patch', 'create');
  if (action !== request.action && !isCreation) return false;
  if (namespace !== undefined && namespace !== request.namespace) return false;
  return names === undefined || names.includes(request.name ?? '');
}

/** Has the operator's code write the status of each kind, of objects that have changed in the meantime. */
async function writeEachTooLate(cluster: KubernetesCluster, user: User): Promise<void> {
  const { namespace } = user;
  const own = { namespace };
  const resources: [kind: ResourceKind, name: string, spec: object][] = [
    ['Tenant', `late-${namespace}`, {}],
    ['Application', 'late', { type: 'private', permissions: ['token:create'] }],
    ['AccessRule', 'late', { applicationRef: { name: 'late' }, ...RULE }],
    ['Reactor', 'late', { code: CODE }],
  ];
  await user.apply(...resources.map(([kind, name, spec]) => declared(kind, name, { spec }, own)));
  const client = clientOf(await cluster.kubeconfigFor(`${OPERATOR.namespace}/${OPERATOR.name}`));
  try {
    for (const [kind, name] of resources) {
      await writeStatusTooLate(client, { kind, name, namespace: kind === 'Tenant' ? '' : namespace });
    }
  } finally {
    client.close();
  }
}

/** Has the operator's code find the replicas of the API. */
async function findReplicas(cluster: KubernetesCluster): Promise<void> {
  const client = clientOf(await cluster.kubeconfigFor(`${OPERATOR.namespace}/${OPERATOR.name}`));
  const directory = createEndpointDirectory({
    ...{ client, clock: systemTimers, logger: silentLogger, protocol: 'https:' },
    service: { namespace: OPERATOR.namespace, name: 'tokenkeep-internal' },
  });
  directory.start(() => undefined);
  const watching = {
    user: userOf(`${OPERATOR.namespace}/${OPERATOR.name}`),
    action: 'watch endpointslices.discovery.k8s.io',
  };
  await eventually(async () => {
    const seen = (await readAuditLog(cluster.auditLog)).map(({ user, action }) => ({ user, action }));
    expect(seen).to.deep.include(watching);
  });
  await directory.stop();
  client.close();
}

/** Fails where the operator has not asked for it in this namespace. */
async function isUsed(cluster: KubernetesCluster, action: string, namespace: string): Promise<void> {
  const requests = await readAuditLog(cluster.auditLog);
  const user = userOf(`${OPERATOR.namespace}/${OPERATOR.name}`);
  const used = requests.some((each) => each.user === user && each.action === action && each.namespace === namespace);
  expect(used, `${action} in ${namespace}`).to.equal(true);
}

/** Has the operator's code run a reactor where the chart lets it, change all that it is made of, and remove it. */
async function runReactor(cluster: KubernetesCluster): Promise<void> {
  const bench = await reactorClusterIn(cluster, OPERATOR.namespace);
  try {
    const scaling = { minReplicas: 2, maxReplicas: 3, concurrency: 1, idleSeconds: 60 };
    const first = workloadWith({ scaling: { ...scaling, engine: 'KEDA' } });
    const name = workloadName(first);
    await installKeda(cluster);
    // Refused first, more than once: that is told in an event.
    const lift = await allowNone(bench, bench.namespace, 'deployments.apps');
    const runtime = bench.start({ metricsOrigin: 'http://api.tokenkeep-system.svc:9090' });
    await runtime.apply(first, undefined);
    await eventually(() => isUsed(cluster, 'patch events.events.k8s.io', bench.namespace), { deadlineMs: 60_000 });
    await lift();
    await bench.pods(first, 2);
    await eventually(() => cluster.demand(['get', 'scaledobjects.keda.sh', name, '-n', bench.namespace]));
    // As if an earlier version of the operator had made them.
    for (const plural of ['services', 'poddisruptionbudgets', 'networkpolicies'] as const) {
      await bench.patch(plural, name, { metadata: { annotations: { 'tokenkeep.dev/rendered': 'earlier' } } });
      await eventually(async () => {
        const { metadata } = await bench.read(plural, name);
        expect(metadata.annotations?.['tokenkeep.dev/rendered']).not.to.equal('earlier');
      });
    }
    await bench.remove('secrets', 'tokenkeep-reactor-ca');
    await eventually(() => bench.read('secrets', 'tokenkeep-reactor-ca'));
    await runtime.apply({ ...first, scaling: { ...scaling, minReplicas: 0 } }, 1);
    await bench.pods(first, 1);
    await runtime.remove(first.tenantId, first.reactorId);
  } finally {
    await bench.close();
  }
}

/** Has an operator declare a reactor, which one that has nowhere to run reactors does not. */
async function declareReactor(cluster: KubernetesCluster): Promise<void> {
  const plane = await createKubernetesPlane(cluster);
  try {
    await plane.start();
    await plane.apply('ConfigMap', 'score', { data: { code: CODE } });
    await plane.apply('Reactor', 'score', { spec: { codeFrom: { configMap: { name: 'score', key: 'code' } } } });
    await eventually(async () => {
      const reactor = await plane.read('Reactor', 'score');
      expect(reactor?.metadata.finalizers).to.include('tokenkeep.dev/cleanup');
    });
  } finally {
    await plane.close();
  }
}

describe('what the chart grants', function () {
  this.timeout(TIMEOUT_MS);
  let cluster: KubernetesCluster;

  before(async function () {
    cluster = await requireOwnKubernetes(this);
  });
  after(() => cluster?.stop());

  async function requestsOf({ namespace, name }: typeof OPERATOR): Promise<AuditedRequest[]> {
    const user = userOf(`${namespace}/${name}`);
    return (await readAuditLog(cluster.auditLog)).filter((request) => request.user === user);
  }

  /** `verb resource`, and where that matters, `in namespace` or `everywhere`. */
  async function may(kubeconfig: string, question: string): Promise<boolean> {
    const [, action = '', place = ''] = /^(.*?)(?: in (.*))?$/.exec(question)!;
    const scope = place === '' ? ['--all-namespaces'] : ['-n', place];
    const { stdout } = await cluster.kubectl(['auth', 'can-i', ...action.split(' '), ...scope], { kubeconfig });
    return stdout.trim() === 'yes';
  }

  describe('to an operator of all namespaces', () => {
    let operator: ChartOperator;
    let user: User;

    before(async () => {
      operator = await startChartOperator(cluster, { serviceAccount: `${OPERATOR.namespace}/${OPERATOR.name}` });
      user = createUser(cluster, await cluster.namespace());
      await liveThrough(user);
    });
    after(() => operator?.stop());

    it('suffices', async () => {
      const requests = await requestsOf(OPERATOR);
      expect(requests).not.to.be.empty;
      expect(requests.filter(({ isAllowed }) => !isAllowed)).to.deep.equal([]);
    });

    it('is used to the last verb', async () => {
      await writeEachTooLate(cluster, user);
      await declareReactor(cluster);
      await runReactor(cluster);
      await findReplicas(cluster);
      const grants = grantsOf(await renderChart(), OPERATOR);
      // Of an event that comes again, the number is written seconds later.
      await eventually(
        async () => {
          const requests = await requestsOf(OPERATOR);
          expect(grants.filter((grant) => !requests.some((request) => isUse(grant, request)))).to.deep.equal([]);
        },
        { deadlineMs: 60_000, everyMs: 500 },
      );
    });

    it('has it write no Secret but its own', async () => {
      const written = (await requestsOf(OPERATOR)).filter(
        (each) => isWrite(each) && each.uri.includes('/secrets') && each.namespace === user.namespace,
      );
      // Not `guest`, which it reads a key from.
      expect(new Set(written.map(({ name }) => name))).to.deep.equal(new Set(['shop-api-key', 'late-api-key']));
    });

    const refused = [
      'get pods',
      'list pods in default',
      'create pods in tokenkeep-system',
      'create pods --subresource=exec in tokenkeep-system',
      'get pods --subresource=log in tokenkeep-system',
      'create deployments.apps in default',
      'update deployments.apps in tokenkeep-system',
      'patch networkpolicies.networking.k8s.io in default',
      'list nodes',
      'get serviceaccounts',
      'create serviceaccounts --subresource=token',
      'update secrets',
      'deletecollection secrets',
      'create configmaps',
      'patch configmaps',
      'create applications.tokenkeep.dev',
      'update applications.tokenkeep.dev',
      'delete applications.tokenkeep.dev',
      'delete tenants.tokenkeep.dev',
      'update applications.tokenkeep.dev --subresource=status',
      'patch customresourcedefinitions',
      'create clusterroles',
      'create rolebindings',
      'impersonate users',
      'impersonate serviceaccounts',
      'list events.events.k8s.io',
      'get namespaces',
      'get leases/another in tokenkeep-system',
      'update leases/another in tokenkeep-system',
      'delete leases/tokenkeep-operator in tokenkeep-system',
      'get leases/tokenkeep-operator in default',
    ];
    for (const question of refused) {
      it(`does not include: ${question}`, async () => {
        const kubeconfig = await cluster.kubeconfigFor(`${OPERATOR.namespace}/${OPERATOR.name}`);
        expect(await may(kubeconfig, question)).to.equal(false);
      });
    }

    it('is what the questions above would find', async () => {
      const kubeconfig = await cluster.kubeconfigFor(`${OPERATOR.namespace}/${OPERATOR.name}`);
      const granted = [
        ...['get secrets', 'update leases/tokenkeep-operator in tokenkeep-system', 'list namespaces'],
        ...['list pods in tokenkeep-system', 'create deployments.apps in tokenkeep-system'],
      ];
      for (const question of granted) expect(await may(kubeconfig, question), question).to.equal(true);
    });
  });

  describe('to an operator of one namespace', () => {
    const scoped = { namespace: 'scoped-system', name: 'scoped-tokenkeep-operator' };
    let inside: User;
    let outside: User;
    let operator: ChartOperator;

    before(async () => {
      inside = createUser(cluster, await cluster.namespace());
      outside = createUser(cluster, await cluster.namespace());
      await cluster.demand(['create', 'namespace', scoped.namespace]);
      const chart = await renderChart(
        { crds: { enabled: false }, operator: { watchNamespaces: [inside.namespace] } },
        { name: 'scoped', namespace: scoped.namespace },
      );
      await cluster.demand(['apply', '--server-side', '-f', '-'], { input: chart });
      await outside.apply(
        declared(
          'Application',
          'shop',
          { spec: { type: 'private', permissions: ['token:create'] } },
          { namespace: outside.namespace },
        ),
        declared('Secret', 'theirs', { stringData: { key: 'nobody' } }, { namespace: outside.namespace }),
      );
      operator = await startChartOperator(cluster, {
        serviceAccount: `${scoped.namespace}/${scoped.name}`,
        namespaces: [inside.namespace],
      });
      await liveThrough(inside);
    });
    after(() => operator?.stop());

    it('suffices', async () => {
      const requests = await requestsOf(scoped);
      expect(requests).not.to.be.empty;
      expect(requests.filter(({ isAllowed }) => !isAllowed)).to.deep.equal([]);
    });

    it('leaves what is declared in other namespaces alone', async () => {
      const { status } = await outside.get('application', 'shop');
      expect(status.conditions[0]).to.include({ type: 'Ready', status: 'Unknown', reason: 'Pending' });
    });

    it('does not let it read a Secret of another namespace', async () => {
      const kubeconfig = await cluster.kubeconfigFor(`${scoped.namespace}/${scoped.name}`);
      const read = ['get', 'secret', 'theirs', '-n', outside.namespace];
      expect((await cluster.kubectl(read, { kubeconfig })).stderr).to.include('Forbidden');
      expect((await cluster.kubectl(['get', 'secrets', '-A'], { kubeconfig })).stderr).to.include('Forbidden');
      expect(await may(kubeconfig, `get secrets in ${inside.namespace}`)).to.equal(true);
    });
  });

  describe('to people who hold a role in a namespace', () => {
    /** What is granted is asked first: where that is answered, the binding has taken effect. */
    const CAN: Record<string, { granted: string[]; refused: string[] }> = {
      view: { granted: ['list applications.tokenkeep.dev'], refused: ['create applications.tokenkeep.dev'] },
      edit: {
        granted: ['list applications.tokenkeep.dev'],
        refused: ['create applications.tokenkeep.dev', 'patch accessrules.tokenkeep.dev'],
      },
      admin: {
        granted: ['list reactors.tokenkeep.dev'],
        refused: ['delete reactors.tokenkeep.dev', 'create tenants.tokenkeep.dev'],
      },
      'tokenkeep-edit': {
        granted: [
          'create accessrules.tokenkeep.dev',
          'delete reactors.tokenkeep.dev',
          'get applications.tokenkeep.dev',
        ],
        refused: ['create tenants.tokenkeep.dev', 'patch applications.tokenkeep.dev --subresource=status'],
      },
    };
    for (const [role, { granted, refused }] of Object.entries(CAN)) {
      it(`${role}: includes ${granted.join(', ')}, not ${refused.join(', ')}`, async () => {
        const namespace = await cluster.namespace();
        const person = await cluster.kubeconfigFor(`${namespace}/person`);
        await cluster.demand([
          ...['create', 'rolebinding', 'person', '-n', namespace],
          ...[`--clusterrole=${role}`, `--serviceaccount=${namespace}:person`],
        ]);
        // The built-in roles take in ours, and the binding takes effect, a moment later.
        const deadline = { deadlineMs: 60_000, everyMs: 200 };
        for (const question of granted) {
          await eventually(async () => {
            expect(await may(person, `${question} in ${namespace}`), question).to.equal(true);
          }, deadline);
        }
        for (const question of refused) {
          expect(await may(person, `${question} in ${namespace}`), question).to.equal(false);
        }
      });
    }
  });

  describe('to the API', () => {
    const asApi = (): Promise<string> => cluster.kubeconfigFor(`${RELEASE.namespace}/tokenkeep-api`);

    it('is to ask whose a token is', async () => {
      expect(await may(await asApi(), 'create tokenreviews')).to.equal(true);
    });

    for (const question of ['get secrets', 'list applications.tokenkeep.dev', 'create subjectaccessreviews']) {
      it(`does not include: ${question}`, async () => {
        expect(await may(await asApi(), question)).to.equal(false);
      });
    }
  });
});
