import { expect } from 'chai';
import { createEventRecorder } from '../../../../src/operator/kubernetes/event-recorder.ts';
import type { EventRecorder, EventResult } from '../../../../src/operator/kubernetes/event-recorder.ts';
import type { Regarding } from '../../../../src/operator/kubernetes/event-object.ts';
import type { KubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { clientOf } from '../../../support/operator/kubernetes-plane.ts';

const API_VERSION = 'tokenkeep.dev/v1alpha1';

describe('events on a real Kubernetes API', () => {
  let cluster: KubernetesCluster;
  let namespace: string;
  const clients: KubernetesClient[] = [];
  const recorders: EventRecorder[] = [];

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
    namespace = await cluster.namespace();
  });
  afterEach(async () => {
    await Promise.all(recorders.splice(0).map((recorder) => recorder.stop()));
    for (const client of clients.splice(0)) client.close();
  });

  async function recorderOf(serviceAccount = 'tokenkeep-system/tokenkeep-operator') {
    const client = clientOf(await cluster.kubeconfigFor(serviceAccount));
    const results: EventResult[] = [];
    const onResult = (result: EventResult) => void results.push(result);
    const recorder = createEventRecorder({ client, instance: 'operator-0', logger: silentLogger, onResult });
    clients.push(client);
    recorders.push(recorder);
    return { recorder, results };
  }

  /** A resource that is really there. */
  async function create(kind: 'Application' | 'Tenant', name: string, spec: object): Promise<Regarding> {
    const at = kind === 'Tenant' ? '' : namespace;
    const metadata = at === '' ? { name } : { name, namespace };
    const input = JSON.stringify({ apiVersion: API_VERSION, kind, metadata, spec });
    const made = JSON.parse(await cluster.demand(['create', '-o', 'json', '-f', '-'], { input })) as {
      metadata: { uid: string };
    };
    return { apiVersion: API_VERSION, kind, namespace: at, name, uid: made.metadata.uid };
  }

  it('are shown by kubectl events and kubectl describe, repetitions with their count', async () => {
    const checkout = await create('Application', 'checkout', { type: 'private' });
    const { recorder, results } = await recorderOf();
    const created = { type: 'Normal', reason: 'KeyCreated', message: 'Created the key' } as const;
    const drift = { type: 'Warning', reason: 'DriftCorrected', message: 'Put back what was changed' } as const;
    recorder.record(checkout, created);
    await eventually(() => expect(results).to.deep.equal(['written']));
    recorder.record(checkout, drift);
    await eventually(() => expect(results).to.have.length(2));
    recorder.record(checkout, drift);
    recorder.record(checkout, drift);
    await recorder.stop();

    const table = await cluster.demand(['events', '-n', namespace, '--for', 'application/checkout']);
    expect(table).to.match(/Normal +KeyCreated +Application\/checkout +Created the key/);
    expect(table).to.match(/\(x3 over .*Warning +DriftCorrected/);
    const described = await cluster.demand(['describe', 'application', 'checkout', '-n', namespace]);
    expect(described).to.match(/Normal +KeyCreated .*tokenkeep\.dev\/operator +Created the key/);

    const path = ['get', 'events.events.k8s.io', '-n', namespace, '-o', 'json'];
    const { items } = JSON.parse(await cluster.demand(path)) as { items: Record<string, unknown>[] };
    expect(items).to.have.length(2);
    for (const item of items) {
      expect(item).to.include({ reportingController: 'tokenkeep.dev/operator', reportingInstance: 'operator-0' });
      expect(item).to.include({ action: 'Reconcile' });
      expect(item['metadata'])
        .to.have.property('name')
        .that.matches(/^checkout\.[0-9a-f]{16}$/);
    }
  });

  it('about a Tenant, which is in no namespace, are shown too', async () => {
    const name = `tenant-of-${namespace}`;
    const tenant = await create('Tenant', name, { type: 'test' });
    const { recorder } = await recorderOf();
    recorder.record(tenant, { type: 'Normal', reason: 'Declared', message: 'Declared to the API' });
    await recorder.stop();
    const described = await cluster.demand(['describe', 'tenant', name]);
    expect(described).to.match(/Normal +Declared .*Declared to the API/);
    await cluster.demand(['delete', 'tenant', name]);
  });

  it('with everything at its longest are taken', async () => {
    const long = await create('Application', 'l'.repeat(52), { type: 'private' });
    const { recorder, results } = await recorderOf();
    recorder.record(long, { type: 'Warning', reason: 'Long', message: 'ü'.repeat(2_000), action: 'A'.repeat(200) });
    await recorder.stop();
    expect(results).to.deep.equal(['written']);
  });

  it('are counted as refused where the operator may not write them, and nothing fails', async () => {
    const { recorder, results } = await recorderOf(`${namespace}/nobody`);
    const regarding = { apiVersion: API_VERSION, kind: 'Application', namespace, name: 'x', uid: 'uid' };
    recorder.record(regarding, { type: 'Normal', reason: 'KeyCreated', message: 'Created the key' });
    await recorder.stop();
    expect(results).to.deep.equal(['refused']);
  });

  it('are counted as refused in a namespace that is being deleted', async () => {
    const ending = await cluster.namespace();
    const blocker = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', finalizers: ['test.dev/kept'] } };
    await cluster.demand(['create', '-n', ending, '-f', '-'], { input: JSON.stringify(blocker) });
    await cluster.demand(['delete', 'namespace', ending, '--wait=false']);
    const { recorder, results } = await recorderOf();
    const regarding = { apiVersion: API_VERSION, kind: 'Application', namespace: ending, name: 'x', uid: 'uid' };
    recorder.record(regarding, { type: 'Normal', reason: 'KeyCreated', message: 'Created the key' });
    await recorder.stop();
    expect(results).to.deep.equal(['refused']);
    const patch = '{"metadata":{"finalizers":null}}';
    await cluster.demand(['patch', 'configmap', 'kept', '-n', ending, '--type=merge', '-p', patch]);
  });
});
