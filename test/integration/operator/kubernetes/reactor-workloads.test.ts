import { expect } from 'chai';
import type { ReactorWorkload } from '../../../../src/domain/declarations.ts';
import { workloadName } from '../../../../src/operator/workloads/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { workloadWith } from '../../../support/operator/reactor-cluster.ts';
import type { ReactorCluster, WorkloadObject, WorkloadPlural } from '../../../support/operator/reactor-cluster.ts';
import { useReactorCluster } from '../../../support/operator/use-reactor-cluster.ts';

const WAIT = { deadlineMs: 30_000 };

describe('workloads of reactors in a cluster', function () {
  this.timeout(120_000);
  let bench: ReactorCluster;
  useReactorCluster((made) => (bench = made));

  const namesOf = async (plural: WorkloadPlural) =>
    (await bench.list(plural)).map(({ metadata }) => metadata.name).sort();
  const partsOf = async (workload: ReactorWorkload): Promise<string[]> => {
    const plurals: WorkloadPlural[] = ['deployments', 'services', 'secrets', 'networkpolicies', 'poddisruptionbudgets'];
    const found = await Promise.all(
      plurals.map(async (plural) => (await namesOf(plural)).map((each) => `${plural}/${each}`)),
    );
    return found.flat().filter((each) => each.includes(workloadName(workload)));
  };
  const scaleIs = (workload: ReactorWorkload, replicas: number) =>
    eventually(async () => {
      expect((await bench.read('deployments', workloadName(workload))).spec?.replicas).to.equal(replicas);
    }, WAIT);
  const toldOf = ({ tenantId, reactorId }: ReactorWorkload) => bench.told.get(`${tenantId}/${reactorId}`);
  /** The template is there, not only what the Deployment was made as. */
  const applied = async (workload: ReactorWorkload): Promise<WorkloadObject> => {
    let found: WorkloadObject | undefined;
    await eventually(async () => {
      found = await bench.read('deployments', workloadName(workload));
      expect(JSON.stringify(found.spec)).to.include(workload.revision);
    }, WAIT);
    return found!;
  };

  /** As a node does whose processes have not ended yet. */
  const keep = ({ metadata: { name } }: WorkloadObject) =>
    bench.patch('pods', name, { metadata: { finalizers: ['example.com/still-running'] } });
  const release = ({ metadata: { name } }: WorkloadObject) =>
    bench.patch('pods', name, { metadata: { finalizers: null } });

  it('are made of all their parts, and their pods admitted under the Pod Security Standard "restricted"', async () => {
    const workload = workloadWith({ scaling: { minReplicas: 2, maxReplicas: 10, concurrency: 1, idleSeconds: 300 } });
    const name = workloadName(workload);
    const runtime = bench.start();
    await runtime.apply(workload, 2);
    const pods = await bench.pods(workload, 2);
    for (const pod of pods) {
      expect(pod.metadata.labels).to.include({
        'tokenkeep.dev/tenant-id': workload.tenantId,
        'tokenkeep.dev/reactor-id': workload.reactorId,
      });
    }
    expect(await partsOf(workload)).to.deep.equal([
      `deployments/${name}`,
      `services/${name}`,
      `secrets/${name}-${workload.revision}`,
      `secrets/${name}-tls`,
      `networkpolicies/${name}`,
      `poddisruptionbudgets/${name}`,
    ]);
    const secret = await bench.read('secrets', `${name}-${workload.revision}`);
    expect(secret.immutable).to.equal(true);
    expect(JSON.parse(Buffer.from(secret.data!['workload.json']!, 'base64').toString())).to.deep.equal(workload);
  });

  it('are admitted nowhere the same where one wall of their pods is taken down', async () => {
    const workload = workloadWith();
    await bench.start().apply(workload, 0);
    const { spec } = await applied(workload);
    const { template } = spec as { template: { spec: Record<string, unknown> & { containers: object[] } } };
    const pod = (change: object) => ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { generateName: 'judged-' },
      spec: { ...template.spec, ...change },
    });
    await bench.create('pods', pod({}));
    const [container] = template.spec.containers;
    const loosened = [
      { hostNetwork: true },
      { securityContext: { runAsNonRoot: true, runAsUser: 0 } },
      { containers: [{ ...container, securityContext: { allowPrivilegeEscalation: true } }] },
    ];
    for (const change of loosened) {
      const error = await bench.create('pods', pod(change)).catch((caught: unknown) => caught);
      expect(error).to.have.property('detail').that.includes('violates PodSecurity "restricted:latest"');
    }
  });

  it('cost no request while nothing changes, also after the operator has restarted', async () => {
    const workload = workloadWith();
    const runtime = bench.start();
    await runtime.apply(workload, 1);
    await bench.pods(workload, 1);
    await eventually(async () => expect(await namesOf('deployments')).to.include('reactor-checker'), WAIT);
    await eventually(async () => expect(await namesOf('secrets')).to.include('tokenkeep-reactor-client'), WAIT);
    const before = await bench.settled();
    await runtime.apply(workload, 1);
    expect(await bench.settled()).to.equal(before);
    await runtime.stop();
    const next = bench.start();
    await next.apply(workload, 1);
    await eventually(() => expect(next.list()).to.have.length(1), WAIT);
    expect(await bench.settled()).to.equal(before);
    // The control: a change does cost requests.
    await next.apply({ ...workload, revision: 'ffffffffffffffff' }, 1);
    await eventually(async () => expect((await bench.writes()).length).to.be.greaterThan(before), WAIT);
  });

  it('are scaled through the subresource alone', async () => {
    const workload = workloadWith();
    const name = workloadName(workload);
    const runtime = bench.start();
    await runtime.apply(workload, 3);
    await scaleIs(workload, 3);
    await applied(workload);
    await runtime.apply(workload, 5);
    await scaleIs(workload, 5);
    await runtime.apply({ ...workload, revision: 'ffffffffffffffff' }, 5);
    await applied({ ...workload, revision: 'ffffffffffffffff' });
    const { spec, metadata } = await bench.read('deployments', name);
    expect(spec?.replicas).to.equal(5);
    const owners = metadata.managedFields!.filter(({ fieldsV1 }) =>
      JSON.stringify(fieldsV1).includes('"f:replicas":{}'),
    );
    const ofSpec = owners.filter(({ subresource }) => subresource !== 'status');
    expect(ofSpec.map(({ manager, operation, subresource }) => ({ manager, operation, subresource }))).to.deep.equal([
      { manager: 'tokenkeep-operator', operation: 'Update', subresource: 'scale' },
    ]);
    // What the cluster's own autoscaler, or a person, does to it is undone while we scale.
    await bench.patch('deployments', name, { spec: { replicas: 1 } }, 'scale');
    await scaleIs(workload, 5);
  });

  it('are left at the scale that others give them, where others decide', async () => {
    const workload = workloadWith({ scaling: { minReplicas: 2, maxReplicas: 10, concurrency: 1, idleSeconds: 300 } });
    const runtime = bench.start();
    await runtime.apply(workload, undefined);
    await bench.pods(workload, 2);
    await bench.patch('deployments', workloadName(workload), { spec: { replicas: 4 } }, 'scale');
    await eventually(() => expect(toldOf(workload)?.desired).to.equal(4), WAIT);
    const next = { ...workload, revision: 'ffffffffffffffff' };
    await runtime.apply(next, undefined);
    await applied(next);
    await scaleIs(workload, 4);
  });

  it('change their revision: another Secret, another template, and what was before goes once no pod has it', async () => {
    const first = workloadWith();
    const second = { ...first, revision: 'ffffffffffffffff', code: `${first.code} // second` };
    const name = workloadName(first);
    const runtime = bench.start();
    await runtime.apply(first, 1);
    const [old] = await bench.pods(first, 1);
    await keep(old!);
    await bench.ready(old!, '10.0.0.1');
    await eventually(() => expect(toldOf(first)?.ready).to.have.length(1), WAIT);
    await eventually(async () => {
      const { status } = await bench.read('deployments', name);
      expect(status).to.include({ availableReplicas: 1 });
    }, WAIT);

    await runtime.apply(second, 1);
    const [fresh] = await bench.pods(second, 1);
    expect(await namesOf('secrets')).to.include.members([`${name}-${first.revision}`, `${name}-${second.revision}`]);
    expect(toldOf(first)).to.include({ revision: second.revision });
    expect(toldOf(first)!.ready.map(({ revision }) => revision)).to.deep.equal([first.revision]);

    await bench.ready(fresh!, '10.0.0.2');
    await eventually(() => {
      expect(toldOf(first)!.ready.map(({ revision }) => revision)).to.include(second.revision);
    }, WAIT);
    await eventually(async () => {
      expect((await bench.read('pods', old!.metadata.name)).metadata.deletionTimestamp).not.to.equal(undefined);
    }, WAIT);
    expect(await namesOf('secrets')).to.include(`${name}-${first.revision}`);
    await eventually(() => {
      expect(toldOf(first)!.ready).to.deep.equal([
        {
          address: 'https://10.0.0.2:8443',
          credential: '',
          revision: second.revision,
          serverName: `${first.reactorId}.${first.tenantId}.reactors.tokenkeep.internal`,
        },
      ]);
    }, WAIT);
    await release(old!);
    await eventually(async () => expect(await namesOf('secrets')).not.to.include(`${name}-${first.revision}`), WAIT);
    expect(await namesOf('secrets')).to.include(`${name}-${second.revision}`);
  });

  it('leave nothing when they are removed, and their walls stand until the last pod is gone', async () => {
    const workload = workloadWith();
    const name = workloadName(workload);
    const runtime = bench.start();
    await runtime.apply(workload, 1);
    const [pod] = await bench.pods(workload, 1);
    await keep(pod!);
    let isGone = false;
    void runtime.remove(workload.tenantId, workload.reactorId).then(() => (isGone = true));
    await eventually(async () => expect(await namesOf('deployments')).not.to.include(name), WAIT);
    await eventually(async () => {
      expect((await bench.read('pods', pod!.metadata.name)).metadata.deletionTimestamp).not.to.equal(undefined);
    }, WAIT);
    expect(await namesOf('networkpolicies')).to.include(name);
    expect(isGone).to.equal(false);
    await release(pod!);
    await eventually(async () => expect(await partsOf(workload)).to.deep.equal([]), WAIT);
    await eventually(() => expect(isGone).to.equal(true), WAIT);
    expect(runtime.list()).to.deep.equal([]);
  });

  it('of reactors that are gone are found after a restart of the operator', async () => {
    const workload = workloadWith();
    const runtime = bench.start();
    await runtime.apply(workload, 1);
    await bench.pods(workload, 1);
    await runtime.stop();
    const next = bench.start();
    await eventually(() => expect(next.list()).to.have.length(1), WAIT);
    const { tenantId, reactorId } = next.list()[0]!;
    expect({ tenantId, reactorId }).to.deep.equal({ tenantId: workload.tenantId, reactorId: workload.reactorId });
    await next.remove(tenantId, reactorId);
    expect(await partsOf(workload)).to.deep.equal([]);
  });

  it('come back where somebody has deleted a part of them', async () => {
    const workload = workloadWith();
    const name = workloadName(workload);
    await bench.start().apply(workload, 1);
    await bench.pods(workload, 1);
    for (const [plural, part] of [
      ['networkpolicies', name],
      ['secrets', `${name}-tls`],
      ['secrets', `${name}-${workload.revision}`],
      ['deployments', name],
    ] as const) {
      const { uid } = (await bench.read(plural, part)).metadata;
      await bench.remove(plural, part);
      await eventually(async () => expect((await bench.read(plural, part)).metadata.uid).not.to.equal(uid), WAIT);
    }
  });

  it('keep their walls as they are to be where somebody changes one', async () => {
    const workload = workloadWith({ egress: { allow: ['192.0.2.7:5432'] } });
    const name = workloadName(workload);
    await bench.start().apply(workload, 0);
    await applied(workload);
    await eventually(() => bench.read('networkpolicies', 'reactor-checker'), WAIT);
    const anywhere = [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }];
    const edits: [policy: string, spec: object][] = [
      [name, { egress: anywhere }],
      [name, { egress: null }],
      [name, { ingress: [{}] }],
      [name, { podSelector: { matchLabels: { app: 'none' } } }],
      [name, { policyTypes: ['Ingress'] }],
      ['reactor-checker', { egress: anywhere }],
    ];
    for (const [policy, edit] of edits) {
      const { spec } = await bench.read('networkpolicies', policy);
      const patch = ['--type=merge', '-p', JSON.stringify({ spec: edit })];
      await bench.cluster.demand(['patch', 'networkpolicy', policy, '-n', bench.namespace, ...patch]);
      await eventually(async () => {
        expect((await bench.read('networkpolicies', policy)).spec, JSON.stringify(edit)).to.deep.equal(spec);
      }, WAIT);
    }
    // Once each: what stands as it is to be is let be.
    const writes = (await bench.writes()).filter(({ uri }) => uri.includes('/networkpolicies/'));
    expect(writes).to.have.lengthOf(edits.length);
  });

  it('never share a pod, nor a Deployment, between tenants: not even reactors of one id', async () => {
    const one = workloadWith();
    const other = workloadWith({ reactorId: one.reactorId });
    const runtime = bench.start();
    await runtime.apply(one, 1);
    await runtime.apply(other, 1);
    for (const [workload, stranger] of [
      [one, other],
      [other, one],
    ] as const) {
      const [pod] = await bench.pods(workload, 1);
      const text = JSON.stringify(pod);
      expect(text).to.include(workload.tenantId);
      expect(text).not.to.include(stranger.tenantId);
      expect(text).not.to.include(workloadName(stranger));
      await bench.ready(pod!, workload === one ? '10.0.0.1' : '10.0.0.2');
    }
    for (const [workload, address] of [
      [one, 'https://10.0.0.1:8443'],
      [other, 'https://10.0.0.2:8443'],
    ] as const) {
      await eventually(
        () => expect(toldOf(workload)?.ready.map((each) => each.address)).to.deep.equal([address]),
        WAIT,
      );
    }
  });

  it('are joined by one that checks code, which is not there before it is ready', async () => {
    const runtime = bench.start();
    const error = await runtime.checker().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Error).with.property('message').that.includes('No instance is ready to check code');
    await eventually(async () => expect(await bench.list('pods')).to.have.length(1), WAIT);
    const [pod] = await bench.list('pods');
    await bench.ready(pod!, 'fd00::7');
    await eventually(async () => {
      expect(await runtime.checker()).to.deep.equal({
        ...{ address: 'https://[fd00::7]:8443', credential: '', revision: '' },
        serverName: 'checker.reactors.tokenkeep.internal',
      });
    }, WAIT);
  });
});
