import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { goModuleFolder } from '../support/go-module.ts';
import { requireChartJudges, writeSchemas, type ChartJudges } from '../support/kubernetes/chart-judges.ts';
import { requireOwnKubernetes, type KubernetesCluster } from '../support/kubernetes/control-plane.ts';
import { CHART, helm, NEEDED_VALUES, renderChart, requireHelm } from '../support/kubernetes/helm.ts';
import type { ChartValues } from '../support/kubernetes/helm.ts';
import { containersOf, parseManifests, podsIn, type RenderedPod } from '../support/kubernetes/manifests.ts';
import { VALUE_SET_NAMES, VALUE_SETS } from './value-sets.ts';

const DEFINITIONS = new URL('../../config/definitions/', import.meta.url);
/** Of kinds that the chart makes where somebody else has defined them. */
const OTHERS = {
  'github.com/cert-manager/cert-manager': [
    'deploy/crds/cert-manager.io_certificates.yaml',
    'deploy/crds/cert-manager.io_issuers.yaml',
  ],
  'github.com/prometheus-operator/prometheus-operator': ['podmonitors', 'prometheusrules', 'servicemonitors'].map(
    (plural) => `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`,
  ),
};

/** What kube-score finds critical and is meant so, by its words. */
const MEANT: Record<string, RegExp> = {
  // A limit of CPU stops a process that has work, on a node that has time: it bounds nothing but answers.
  'no limit of CPU': /CPU limit is not set$/,
  // Tags are never moved, and digests cannot be: what is on the node starts while the registry is away.
  'images that are there are not pulled': /ImagePullPolicy is not set to Always$/,
  // The operator makes those pods.
  'pods that are not in the chart': /-reactors: The NetworkPolicys selector doesn't match any pods$/,
  // The official image's own user, of a first look alone.
  'the user of postgres': /\(postgres\) The container (is )?running with a low (user|group) ID$/,
};

describe('the chart on a real API server', function () {
  this.timeout(120_000);
  let cluster: KubernetesCluster;
  let judges: ChartJudges;
  let folder: string;

  before(async function () {
    await requireHelm(this);
    judges = await requireChartJudges(this);
    cluster = await requireOwnKubernetes(this);
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-chart-'));
    const files: string[] = [];
    for (const [module, paths] of Object.entries(OTHERS)) {
      const root = await goModuleFolder(DEFINITIONS, module);
      files.push(...paths.flatMap((path) => ['-f', join(root, path)]));
    }
    await cluster.demand(['apply', '--server-side', ...files]);
    await cluster.demand(['wait', '--for=condition=Established', '--timeout=60s', ...files]);
    for (const name of ['reactors', 'payments', 'checkout']) await cluster.demand(['create', 'namespace', name]);
  });
  after(async () => {
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  const rendered = (values: ChartValues): Promise<string> => renderChart({ ...values, crds: { enabled: false } });

  for (const name of VALUE_SET_NAMES) {
    it(`is taken as ${name}, every field and without a warning`, async () => {
      const flags = ['--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict'];
      const input = await rendered(VALUE_SETS[name]);
      const { code, stdout, stderr } = await cluster.kubectl(['apply', ...flags, '-f', '-'], { input });
      expect([code, stderr]).to.deep.equal([0, '']);
      const taken = stdout.trim().split('\n');
      expect(taken).to.have.lengthOf(parseManifests(input).length);
    });
  }

  it('has its definitions in one file, which is applied server-side', async () => {
    const file = fileURLToPath(new URL('../../config/crds.yaml', import.meta.url));
    const taken = await cluster.demand(['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', file]);
    expect(taken.trim().split('\n')).to.have.lengthOf((await readdir(join(CHART, 'files/crds'))).length);
  });

  it('satisfies kubeconform with the schemas of this server, and what is misspelt does not', async () => {
    const schemas = join(folder, 'schemas');
    const all = await Promise.all(VALUE_SET_NAMES.map((name) => rendered(VALUE_SETS[name])));
    // The definitions too, once. All at once, since each run reads all schemas.
    const manifests = [await renderChart(), ...all].join('\n---\n');
    await eventually(async () => {
      await writeSchemas(cluster, schemas);
      // The server publishes what is newly defined after a while.
      const { code, stdout } = await judges.kubeconform(manifests, schemas);
      expect([code, stdout]).to.deep.include(0);
      expect(stdout).to.include('Invalid: 0, Errors: 0, Skipped: 0');
    });
    const misspelt = (await rendered(VALUE_SETS.default)).replace('enableServiceLinks', 'enableServiceLink');
    expect((await judges.kubeconform(misspelt, schemas)).code).not.to.equal(0);
  });

  it('has no finding of kube-score that is critical, but those that are meant', async () => {
    const met = new Set<string>();
    for (const name of VALUE_SET_NAMES) {
      for (const finding of await judges.criticalFindings(await rendered(VALUE_SETS[name]))) {
        // Without policies, none is expected of any pod.
        if (name === 'dev-kept' && finding.endsWith('The pod does not have a matching NetworkPolicy')) continue;
        const [reason] = Object.entries(MEANT).find(([, words]) => words.test(finding)) ?? [];
        expect(reason, `${name}: ${finding}`).not.to.equal(undefined);
        met.add(reason!);
      }
    }
    expect([...met]).to.have.members(Object.keys(MEANT));
    const rooted = (await rendered(VALUE_SETS.default)).replaceAll('runAsUser: 65532', 'runAsUser: 1');
    expect((await judges.criticalFindings(rooted)).join()).to.include('low user ID');
  });

  describe('under the Pod Security Standard `restricted`', () => {
    let namespace: string;

    before(async () => {
      namespace = await cluster.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
      await eventually(() => cluster.demand(['get', 'serviceaccount', 'default', '-n', namespace]));
    });

    function admit({ spec }: Pick<RenderedPod, 'spec'>) {
      // Whose it is does not matter, and it would have to be there.
      const {
        serviceAccountName: _left,
        priorityClassName: _right,
        ...rest
      } = spec as unknown as Record<string, object>;
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'pod' },
        spec: { restartPolicy: 'Never', ...rest },
      };
      const flags = ['create', '--dry-run=server', '-n', namespace, '-f', '-'];
      return cluster.kubectl(flags, { input: JSON.stringify(pod) });
    }

    it('has every pod admitted', async () => {
      for (const name of VALUE_SET_NAMES) {
        for (const pod of podsIn(parseManifests(await rendered(VALUE_SETS[name])))) {
          const { code, stderr } = await admit(pod);
          expect([name, pod.origin, code, stderr]).to.deep.equal([name, pod.origin, 0, '']);
        }
      }
    });

    it('has one refused that is given more', async () => {
      const values = { ...NEEDED_VALUES, securityContext: { allowPrivilegeEscalation: true } };
      const pods = podsIn(parseManifests(await rendered(values)));
      for (const pod of pods) expect((await admit(pod)).stderr, pod.origin).to.include('violates PodSecurity');
    });

    it('writes nowhere but where a volume is', async () => {
      for (const name of VALUE_SET_NAMES) {
        for (const { spec } of podsIn(parseManifests(await rendered(VALUE_SETS[name])))) {
          const contexts = containersOf(spec).map(
            (container) => (container as { securityContext?: object }).securityContext,
          );
          for (const context of contexts) expect(context).to.include({ readOnlyRootFilesystem: true });
        }
      }
    });
  });

  describe('installed by Helm', () => {
    const NAME = 'vaults';
    let namespace: string;

    beforeEach(async () => {
      namespace = await cluster.namespace();
    });
    afterEach(() => helm(['uninstall', NAME, '--no-hooks', '--ignore-not-found', ...where()]));

    const where = (): string[] => ['--namespace', namespace, '--kubeconfig', cluster.adminKubeconfig];

    // Nothing runs here, so that hooks would wait for ever.
    async function run(command: readonly string[], values: ChartValues = {}): Promise<string> {
      const input = JSON.stringify({ ...NEEDED_VALUES, crds: { enabled: false }, ...values });
      const result = await helm([...command, ...where()], input);
      expect(result.code, result.stderr).to.equal(0);
      return result.stdout;
    }

    const install = (values?: ChartValues) => run(['install', NAME, CHART, '--no-hooks', '--values', '-'], values);
    const upgrade = (values?: ChartValues, ...flags: string[]) =>
      run(['upgrade', NAME, CHART, '--no-hooks', '--values', '-', ...flags], values);
    const uninstall = () => run(['uninstall', NAME, '--no-hooks']);

    async function certificate(): Promise<{ data: Record<string, string>; server: X509Certificate }> {
      const secret = await cluster.demand([
        'get',
        'secret',
        `${NAME}-tokenkeep-internal-tls`,
        '-n',
        namespace,
        '-o',
        'json',
      ]);
      const { data } = JSON.parse(secret) as { data: Record<string, string> };
      return { data, server: certificateIn(data['tls.crt']) };
    }

    const certificateIn = (base64 = ''): X509Certificate => new X509Certificate(Buffer.from(base64, 'base64'));

    it('keeps the certificate of the internal API over upgrades, until it is old', async () => {
      await install();
      const first = await certificate();
      const authority = certificateIn(first.data['ca.crt']);
      expect(first.server.verify(authority.publicKey)).to.equal(true);
      expect(first.server.checkHost(`${NAME}-tokenkeep-internal.${namespace}.svc`)).to.be.a('string');
      expect(first.server.checkHost(`${NAME}-tokenkeep.${namespace}.svc`)).to.equal(undefined);
      expect(first.server.validToDate.getTime() - Date.now()).to.be.greaterThan(1_800 * 86_400_000);

      await upgrade({ operator: { workers: 4 } });
      expect((await certificate()).data).to.deep.equal(first.data);

      const secret = ['secret', `${NAME}-tokenkeep-internal-tls`, '-n', namespace];
      await cluster.demand(['annotate', ...secret, '--overwrite', 'tokenkeep.dev/renew-after=2020-01-01T00:00:00Z']);
      await upgrade({}, '--force-conflicts');
      const second = await certificate();
      expect(second.data).not.to.deep.equal(first.data);
      expect(second.server.verify(certificateIn(second.data['ca.crt']).publicKey)).to.equal(true);
      await upgrade();
      expect((await certificate()).data).to.deep.equal(second.data);
    });

    it('leaves the number of replicas to the autoscaler', async () => {
      const autoscaling = { api: { autoscaling: { enabled: true } } };
      await install(autoscaling);
      const api = `deployment/${NAME}-tokenkeep-api`;
      await cluster.demand(['scale', api, '--replicas=7', '-n', namespace]);
      await upgrade({ api: { ...autoscaling.api, logLevel: 'debug' } });
      const replicas = await cluster.demand(['get', api, '-n', namespace, '-o', 'jsonpath={.spec.replicas}']);
      expect(replicas).to.equal('7');
    });

    it('leaves what the operator writes alone, over upgrades', async () => {
      await install();
      const secret = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: { 'tls.crt': 'YQ==' } };
      const named = { ...secret, metadata: { name: 'tokenkeep-reactor-client', namespace } };
      const asOperator = ['apply', '--server-side', '--force-conflicts', '--field-manager=tokenkeep-operator'];
      await cluster.demand([...asOperator, '-f', '-'], { input: JSON.stringify(named) });
      await upgrade({ api: { logLevel: 'debug' } });
      const read = ['get', 'secret', 'tokenkeep-reactor-client', '-n', namespace, '-o', 'jsonpath={.data}'];
      expect(JSON.parse(await cluster.demand(read))).to.deep.equal(secret.data);
    });

    it('leaves nothing behind, with the namespace of reactors and what is in it', async () => {
      const reactors = `${namespace}-reactors`;
      await install({ reactors: { namespace: reactors, createNamespace: true } });
      await cluster.demand(['create', 'deployment', 'reactor-1', '--image=tokenkeep', '-n', reactors]);
      await uninstall();
      const kinds = [
        ...['deployments', 'services', 'secrets', 'configmaps', 'serviceaccounts', 'networkpolicies', 'jobs', 'pods'],
        ...['poddisruptionbudgets', 'horizontalpodautoscalers', 'roles', 'rolebindings', 'persistentvolumeclaims'],
        ...['clusterroles', 'clusterrolebindings', 'namespaces', 'leases'],
      ].join();
      await eventually(async () => {
        const ours = ['-A', '-l', `app.kubernetes.io/instance=${NAME}`, '-o', 'name', '--ignore-not-found'];
        expect(await cluster.demand(['get', kinds, ...ours])).to.equal('');
        expect((await cluster.kubectl(['get', 'namespace', reactors])).code).not.to.equal(0);
      });
    });

    it('tells what to do next, as the cluster takes it', async () => {
      await install();
      const notes = await run(['get', 'notes', NAME]);
      const [, application = ''] = /<<YAML\n([\s\S]*?)\nYAML\n/.exec(notes) ?? [];
      await cluster.demand(['create', '--dry-run=server', '--validate=strict', '-n', namespace, '-f', '-'], {
        input: application,
      });
      expect(notes).to.include(`service/${NAME}-tokenkeep `).and.include(`http://${NAME}-tokenkeep.${namespace}.svc`);
      expect(notes).to.include("the API's user of Postgres also migrates and sweeps");
      await uninstall();
      expect(await install({ database: undefined, vault: undefined, dev: { enabled: true } })).to.include(
        'FOR A FIRST LOOK ALONE',
      );
    });
  });
});
