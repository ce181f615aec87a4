import { expect } from 'chai';
import { tlsSecretName, workloadName } from '../../../../src/operator/workloads/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { createFastClock } from '../../../support/operator/fast-clock.ts';
import { installKeda } from '../../../support/operator/keda.ts';
import { workloadWith } from '../../../support/operator/reactor-cluster.ts';
import type { ReactorCluster, WorkloadPlural } from '../../../support/operator/reactor-cluster.ts';
import { useReactorCluster } from '../../../support/operator/use-reactor-cluster.ts';

const WAIT = { deadlineMs: 30_000 };
const CLIENT = 'tokenkeep-reactor-client';
const SCALING = { minReplicas: 2, maxReplicas: 10, concurrency: 1, idleSeconds: 300 };
const SIDECAR = {
  ...{ name: 'sidecar', image: 'registry.example/other:1' },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
};

/** What a person, or another program, does to what reactors are made of. */
describe('edits by hand of workloads of reactors', function () {
  this.timeout(120_000);
  let bench: ReactorCluster;
  useReactorCluster((made) => (bench = made));

  const inNamespace = () => ['-n', bench.namespace];
  const edit = (plural: WorkloadPlural, name: string, type: 'merge' | 'json', patch: object) =>
    bench.cluster.demand(['patch', plural, name, ...inNamespace(), `--type=${type}`, '-p', JSON.stringify(patch)]);
  const specOf = async (plural: WorkloadPlural, name: string) => (await bench.read(plural, name)).spec;
  const isApplied = async (name: string) => {
    await eventually(async () => {
      expect(JSON.stringify(await specOf('deployments', name))).to.include('readinessProbe');
      await bench.read('deployments', 'reactor-checker');
      await bench.read('secrets', CLIENT);
    }, WAIT);
    await bench.settled();
  };

  const container = '/spec/template/spec/containers/0';
  const EDITS: Record<string, { plural: WorkloadPlural; type?: 'json'; patch: object }> = {
    'another image': {
      ...{ plural: 'deployments', type: 'json' },
      patch: [{ op: 'replace', path: `${container}/image`, value: 'registry.example/other:1' }],
    },
    'a wall of the pod taken down': {
      ...{ plural: 'deployments', type: 'json' },
      patch: [{ op: 'remove', path: `${container}/securityContext/readOnlyRootFilesystem` }],
    },
    'all walls of the pod taken down': {
      ...{ plural: 'deployments', type: 'json' },
      patch: [
        { op: 'remove', path: `${container}/securityContext` },
        { op: 'remove', path: '/spec/template/spec/securityContext' },
        { op: 'remove', path: `${container}/resources` },
      ],
    },
    'a container with less': {
      ...{ plural: 'deployments', type: 'json' },
      patch: [
        { op: 'remove', path: `${container}/ports/1` },
        { op: 'remove', path: `${container}/volumeMounts/0` },
      ],
    },
    'other arguments': {
      ...{ plural: 'deployments', type: 'json' },
      patch: [{ op: 'replace', path: `${container}/args`, value: ['reactor', '--check'] }],
    },
    'a container beside ours': {
      ...{ plural: 'deployments', type: 'json' },
      patch: [{ op: 'add', path: '/spec/template/spec/containers/-', value: SIDECAR }],
    },
    'a variable in our container': {
      ...{ plural: 'deployments', type: 'json' },
      patch: [{ op: 'add', path: `${container}/env`, value: [{ name: 'NODE_OPTIONS', value: '--inspect' }] }],
    },
    'a field of the pod that is not ours': {
      plural: 'deployments',
      patch: { spec: { template: { spec: { hostNetwork: true } } } },
    },
    'a paused rollout': { plural: 'deployments', patch: { spec: { paused: true } } },
    'another strategy': {
      plural: 'deployments',
      patch: { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } },
    },
    'a label that tells whose it is': {
      plural: 'deployments',
      patch: { metadata: { labels: { 'tokenkeep.dev/reactor-id': 'none' } } },
    },
    'another selector of the Service': { plural: 'services', patch: { spec: { selector: { app: 'none' } } } },
    'another port of the Service': {
      ...{ plural: 'services', type: 'json' },
      patch: [{ op: 'add', path: '/spec/ports/-', value: { name: 'more', port: 9_000, targetPort: 9_000 } }],
    },
    'a Service that publishes what is not ready': {
      plural: 'services',
      patch: { spec: { publishNotReadyAddresses: true } },
    },
    'another budget': { plural: 'poddisruptionbudgets', patch: { spec: { maxUnavailable: 0 } } },
    'a budget of other pods': {
      plural: 'poddisruptionbudgets',
      patch: { spec: { selector: { matchLabels: { app: 'none' } } } },
    },
  };

  it('are put back, each by itself', async () => {
    const workload = workloadWith({ scaling: SCALING });
    const name = workloadName(workload);
    await bench.start().apply(workload, 2);
    await isApplied(name);
    for (const [what, { plural, type = 'merge', patch }] of Object.entries(EDITS)) {
      const before = await bench.read(plural, name);
      await edit(plural, name, type, patch);
      await eventually(async () => {
        const { spec, metadata } = await bench.read(plural, name);
        expect(spec, what).to.deep.equal(before.spec);
        expect(metadata.labels, what).to.deep.equal(before.metadata.labels);
      }, WAIT);
    }
    const writes = await bench.settled();
    await edit('deployments', name, 'merge', { metadata: { annotations: { 'example.com/note': 'mine' } } });
    // Restarted on purpose, as `kubectl rollout restart` does.
    const restarted = { 'kubectl.kubernetes.io/restartedAt': '2026-11-22T06:00:00Z' };
    await edit('deployments', name, 'merge', { spec: { template: { metadata: { annotations: restarted } } } });
    expect(await bench.settled(), 'what is none of ours is let be').to.equal(writes);
    expect(JSON.stringify(await specOf('deployments', name))).to.include('restartedAt');
  });

  it('are put back too where they were made while no operator ran', async () => {
    const workload = workloadWith({ scaling: SCALING });
    const name = workloadName(workload);
    const first = bench.start();
    await first.apply(workload, 2);
    await isApplied(name);
    await first.stop();
    const before = { deployment: await specOf('deployments', name), service: await specOf('services', name) };
    for (const what of [
      'a container beside ours',
      'a field of the pod that is not ours',
      'another selector of the Service',
    ]) {
      const { plural, type = 'merge', patch } = EDITS[what]!;
      await edit(plural, name, type, patch);
    }
    await bench.start().apply(workload, 2);
    await eventually(async () => {
      expect(await specOf('deployments', name)).to.deep.equal(before.deployment);
      expect(await specOf('services', name)).to.deep.equal(before.service);
    }, WAIT);
  });

  it('of a certificate or its key are made good with another pair', async () => {
    const workload = workloadWith();
    // What the API holds may be in another namespace, where it is looked at each minute.
    await bench.start({ clock: createFastClock(60) }).apply(workload, 0);
    const server = tlsSecretName(workloadName(workload));
    for (const name of [server, CLIENT]) await eventually(() => bench.read('secrets', name), WAIT);
    await bench.settled();
    const nothing = Buffer.from('nothing').toString('base64');
    for (const [name, data] of [
      [server, { 'tls.key': nothing }],
      [server, { 'ca.crt': nothing }],
      [CLIENT, { 'svc.crt': nothing }],
      [CLIENT, { 'tls.crt': nothing }],
    ] as const) {
      await edit('secrets', name, 'merge', { data });
      await eventually(
        async () => expect(Object.values((await bench.read('secrets', name)).data!)).not.to.include(nothing),
        WAIT,
      );
    }
  });

  it('are not waited for: what the API serves svc with is there at once, where an earlier release left it out', async () => {
    const first = bench.start();
    await eventually(() => bench.read('secrets', CLIENT), WAIT);
    await bench.settled();
    await first.stop();
    const { metadata, data } = await bench.read('secrets', CLIENT);
    const { 'svc.crt': _certificate, 'svc.key': _key, ...earlier } = data!;
    const { name, labels, annotations } = metadata;
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels, annotations }, data: earlier };
    await bench.cluster.demand(['delete', 'secret', CLIENT, ...inNamespace()]);
    const at = { group: '', version: 'v1', plural: 'secrets', namespace: bench.namespace, name };
    await bench.admin.apply(at, { ...secret, type: 'Opaque' }, 'tokenkeep-operator');
    bench.start();
    await eventually(async () => {
      expect(Object.keys((await bench.read('secrets', CLIENT)).data!)).to.include.members(['svc.crt', 'svc.key']);
    }, WAIT);
  });

  it('of a ScaledObject are put back within a minute, also where it is deleted', async () => {
    await installKeda(bench.cluster);
    const workload = workloadWith({ scaling: { ...SCALING, engine: 'KEDA' } });
    const name = workloadName(workload);
    await bench
      .start({ clock: createFastClock(60), metricsOrigin: 'http://api.example:9090' })
      .apply(workload, undefined);
    const read = async () =>
      JSON.parse(await bench.cluster.demand(['get', 'scaledobject', name, ...inNamespace(), '-o', 'json'])) as {
        spec: object;
      };
    const { spec } = await eventually(read, WAIT);
    await bench.settled();
    await bench.cluster.demand(['delete', 'scaledobject', name, ...inNamespace()]);
    await eventually(async () => expect((await read()).spec).to.deep.equal(spec), WAIT);
    await bench.cluster.demand([
      'patch',
      'scaledobject',
      name,
      ...inNamespace(),
      '--type=merge',
      '-p',
      '{"spec":{"maxReplicaCount":99}}',
    ]);
    await eventually(async () => expect((await read()).spec).to.deep.equal(spec), WAIT);
  });

  it('are looked for without a write where there are none: a minute, and the start of the next operator', async () => {
    await installKeda(bench.cluster);
    const workloads = [workloadWith({ scaling: SCALING }), workloadWith({ scaling: { ...SCALING, engine: 'KEDA' } })];
    const options = () => ({ clock: createFastClock(60), metricsOrigin: 'http://api.example:9090' });
    const apply = async (runtime: ReturnType<ReactorCluster['start']>) => {
      await runtime.apply(workloads[0]!, 2);
      await runtime.apply(workloads[1]!, undefined);
    };
    const first = bench.start(options());
    await apply(first);
    await isApplied(workloadName(workloads[1]!));
    const before = await bench.settled();
    // Each second is a minute of its clock.
    expect(await bench.settled()).to.equal(before);
    await first.stop();
    const next = bench.start(options());
    await apply(next);
    await eventually(() => expect(next.list()).to.have.length(2), WAIT);
    expect(await bench.settled()).to.equal(before);
  });
});
