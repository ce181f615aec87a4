import { expect } from 'chai';
import { buildCheckerPolicy, buildNetworkPolicy } from '../../src/operator/workloads/network-policy.ts';
import { CHECKER_LABELS, labelsOf } from '../../src/operator/workloads/names.ts';
import { NEEDED_VALUES, RELEASE, renderChart, requireHelm, type ChartValues } from '../support/kubernetes/helm.ts';
import { ofKind, parseManifests, podsIn, type Manifest } from '../support/kubernetes/manifests.ts';
import { connects, type End } from '../support/kubernetes/network-policies.ts';
import { workloadWith } from '../support/operator/reactor-cluster.ts';

const REACTORS = 'reactors';
const VALUES = { reactors: { namespace: REACTORS, createNamespace: true } };

describe('who reaches whom under the policies of the chart and of the operator', () => {
  const workload = workloadWith();
  let ends: Record<string, End>;
  let policies: Manifest[];

  async function render(values: ChartValues = {}): Promise<void> {
    const manifests = parseManifests(await renderChart({ ...NEEDED_VALUES, ...VALUES, ...values }));
    const rendered = podsIn(manifests).map(({ origin, labels }): [string, End] => [
      /-(\w+)$/.exec(origin)![1]!,
      { namespace: RELEASE.namespace, labels },
    ]);
    ends = {
      ...Object.fromEntries(rendered),
      reactor: { namespace: REACTORS, labels: labelsOf(workload) },
      checker: { namespace: REACTORS, labels: CHECKER_LABELS },
      neighbour: { namespace: RELEASE.namespace, labels: { app: 'other' } },
      shop: { namespace: 'shop', labels: { app: 'checkout' } },
      prometheus: { namespace: 'monitoring', labels: { app: 'prometheus' } },
      internet: { address: '93.184.216.34' },
      metadata: { address: '169.254.169.254' },
    };
    policies = ofKind('NetworkPolicy', manifests);
  }

  /** As the operator makes them, whose labels of the API's pods are an argument in the chart. */
  function ofOperator(): Manifest[] {
    const { labels } = ends['api'] as { labels: Record<string, string> };
    const { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': component } = labels;
    const selector = { 'app.kubernetes.io/name': name!, 'app.kubernetes.io/component': component! };
    const api = { namespace: RELEASE.namespace, labels: selector, port: 8444, metricsNamespaces: ['monitoring'] };
    return [buildNetworkPolicy(workload, api), buildCheckerPolicy(api)].map((part) => ({
      ...part,
      metadata: { ...part.metadata, namespace: REACTORS },
    }));
  }

  /** Who of them gets through. */
  function callersOf(to: string, port: number, from: readonly string[] = Object.keys(ends)): string[] {
    return from.filter((name) => name !== to && connects(policies, ends[name]!, ends[to]!, port)).sort();
  }

  before(async function () {
    await requireHelm(this);
  });
  beforeEach(async () => {
    await render();
    policies.push(...ofOperator());
  });

  /** Of the chart itself. */
  const PROGRAMS = ['api', 'migrate', 'operator', 'test'];
  const IN_CLUSTER = ['migrate', 'operator', 'reactor', 'checker', 'test', 'neighbour', 'shop', 'prometheus'];

  it('lets workloads call the API, the operator its internal one, and reactors theirs', () => {
    expect(callersOf('api', 8080, IN_CLUSTER)).to.deep.equal(['neighbour', 'prometheus', 'shop', 'test']);
    expect(callersOf('api', 8443, IN_CLUSTER)).to.deep.equal(['operator']);
    expect(callersOf('api', 8444, IN_CLUSTER)).to.deep.equal(['reactor']);
    expect(callersOf('api', 9090, IN_CLUSTER)).to.deep.equal(['neighbour', 'prometheus', 'shop']);
  });

  it('lets nobody call the operator, but for its metrics', () => {
    expect(callersOf('operator', 9090)).to.deep.equal(['neighbour', 'prometheus', 'shop']);
    expect(callersOf('operator', 8081)).to.deep.equal([]);
  });

  it('lets the API alone call reactors, whatever else it may, and nobody what migrates', async () => {
    await render({ networkPolicy: { egressPorts: { kubernetes: [443] } } });
    policies.push(...ofOperator());
    for (const name of ['reactor', 'checker']) expect(callersOf(name, 8443), name).to.deep.equal(['api']);
    expect(callersOf('reactor', 8081)).to.deep.equal(['prometheus']);
    for (const port of [80, 8080, 8443]) expect(callersOf('migrate', port)).to.deep.equal([]);
  });

  it('lets out what each needs', () => {
    const reach = (to: string, port: number) =>
      callersOf(to, port, ['api', 'operator', 'migrate', 'test', 'reactor', 'checker']);
    expect(reach('internet', 5432)).to.deep.equal(['api', 'migrate']);
    expect(reach('internet', 8200)).to.deep.equal(['api']);
    expect(reach('internet', 443)).to.deep.equal(['api', 'operator', 'reactor']);
    expect(reach('internet', 6443)).to.deep.equal(['api', 'operator']);
    expect(reach('internet', 6379)).to.deep.equal([]);
    expect(reach('metadata', 80)).to.deep.equal([]);
  });

  it('lets nothing of a reactor through whose own policy is gone', async () => {
    await render();
    expect(callersOf('reactor', 8443)).to.deep.equal([]);
    expect(callersOf('internet', 443, ['reactor'])).to.deep.equal([]);
  });

  it('lets in those alone that the values name, and `helm test`', async () => {
    const from = (name: string) => [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }];
    await render({ networkPolicy: { apiFrom: from('shop'), metricsFrom: from('monitoring') } });
    expect(callersOf('api', 8080, IN_CLUSTER)).to.deep.equal(['shop', 'test']);
    expect(callersOf('api', 9090, IN_CLUSTER)).to.deep.equal(['prometheus']);
  });

  it('lets the API reach the Redis that it is told of, and Vault at its port', async () => {
    await render({ redis: { existingSecret: { name: 'redis' } }, vault: { address: 'https://vault.example' } });
    expect(callersOf('internet', 6379)).to.include('api');
    expect(callersOf('internet', 8200, ['api'])).to.deep.equal([]);
  });

  it('lets nobody out at any port where a list of ports is empty', async () => {
    await render({ networkPolicy: { egressPorts: { postgres: [], kubernetes: [], callbacks: [], vault: [8200] } } });
    for (const port of [80, 443, 5432, 6443]) {
      expect(callersOf('internet', port, ['api', 'operator', 'migrate', 'test']), String(port)).to.deep.equal([]);
    }
  });

  it('lets the API alone reach a collector of traces, at the port that is named', async () => {
    expect(callersOf('internet', 4318, PROGRAMS)).to.deep.equal([]);
    await render({ networkPolicy: { egressPorts: { traces: [4318] } } });
    expect(callersOf('internet', 4318, PROGRAMS)).to.deep.equal(['api']);
  });

  it('lets all of them ask the DNS that is named, and no other', async () => {
    const dns = {
      to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } } }],
      ports: [{ port: 5353, protocol: 'TCP' }],
    };
    ends['kubes'] = { namespace: 'kube-system', labels: { app: 'dns' } };
    expect(callersOf('kubes', 53, PROGRAMS)).to.deep.equal(PROGRAMS);
    await render({ networkPolicy: { dns } });
    ends['kubes'] = { namespace: 'kube-system', labels: { app: 'dns' } };
    ends['openshift'] = { namespace: 'openshift-dns', labels: { app: 'dns' } };
    expect(callersOf('kubes', 53, PROGRAMS)).to.deep.equal([]);
    expect(callersOf('openshift', 5353, PROGRAMS)).to.deep.equal(PROGRAMS);
  });

  it('opens the way of what migrates before it runs, at each upgrade anew', async () => {
    const hooks = parseManifests(await renderChart()).filter(({ metadata }) => /-migrate$/.test(metadata.name));
    const [policy, job] = ['NetworkPolicy', 'Job'].map((kind) => ofKind(kind, hooks)[0]!.metadata.annotations!);
    expect(policy!['helm.sh/hook']).to.equal(job!['helm.sh/hook']);
    expect(Number(policy!['helm.sh/hook-weight'])).to.be.below(Number(job!['helm.sh/hook-weight']));
    expect(policy!['helm.sh/hook-delete-policy']).to.equal('before-hook-creation,hook-succeeded');
  });
});
