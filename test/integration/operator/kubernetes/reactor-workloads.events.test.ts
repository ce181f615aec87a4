import { expect } from 'chai';
import { workloadName } from '../../../../src/operator/workloads/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { allowNone } from '../../../support/operator/empty-quota.ts';
import { workloadWith } from '../../../support/operator/reactor-cluster.ts';
import type { ReactorCluster } from '../../../support/operator/reactor-cluster.ts';
import { useReactorCluster } from '../../../support/operator/use-reactor-cluster.ts';

const WAIT = { deadlineMs: 30_000 };

interface Told {
  type: string;
  reason: string;
  note: string;
  regarding: { kind: string; name: string };
}

describe('what the cluster refuses of what reactors need', function () {
  this.timeout(120_000);
  let bench: ReactorCluster;
  useReactorCluster((given) => void (bench = given));

  async function eventsIn(namespace: string): Promise<Told[]> {
    const text = await bench.cluster.demand(['get', 'events.events.k8s.io', '-n', namespace, '-o', 'json']);
    return (JSON.parse(text) as { items: Told[] }).items;
  }

  const isTold = (namespace: string, kind: string, name: string, reason: string, note: RegExp) =>
    eventually(async () => {
      const events = (await eventsIn(namespace)).filter(({ regarding }) => regarding.name === name);
      const found = events.find((event) => event.type === 'Warning' && event.reason === reason);
      expect(found?.regarding, JSON.stringify(events)).to.include({ kind, name });
      expect(found?.note).to.match(note);
    }, WAIT);

  it('is told in events: what checks code', async () => {
    await allowNone(bench, bench.namespace, 'deployments.apps');
    const runtime = bench.start();
    await isTold(bench.namespace, 'Deployment', 'reactor-checker', 'QuotaExceeded', /no room for what checks code/);
    expect(runtime.checkerFailure?.()).to.include('no room for what checks code');
  });

  it('is told in events: a workload, which a reactor that no resource declares could tell nowhere else', async () => {
    await allowNone(bench, bench.namespace, 'deployments.apps');
    const workload = workloadWith();
    await bench.start().apply(workload, 1);
    await isTold(bench.namespace, 'Deployment', workloadName(workload), 'QuotaExceeded', /exceeded quota: none/);
  });

  it('is told in events, where the API is: the certificates that it calls instances with', async () => {
    const namespace = await bench.cluster.namespace();
    await allowNone(bench, namespace, 'secrets');
    bench.start({ api: { namespace, labels: { app: 'api' }, port: 8444 } });
    await isTold(namespace, 'Secret', 'tokenkeep-reactor-client', 'ClusterRefused', /certificates that the API calls/);
    const [{ note } = { note: '' }] = (await eventsIn(namespace)).filter(({ reason }) => reason === 'ClusterRefused');
    expect(note).not.to.include('LS0tLS');
  });

  it('is told in events: an authority that somebody has overwritten', async () => {
    const runtime = bench.start();
    await eventually(() => bench.read('secrets', 'tokenkeep-reactor-client'), WAIT);
    await bench.patch('secrets', 'tokenkeep-reactor-ca', { data: { 'tls.crt': 'AAAA' } });
    const workload = workloadWith();
    await runtime.apply(workload, 1);
    await isTold(bench.namespace, 'Deployment', workloadName(workload), 'AuthorityUnusable', /delete it/);
    expect(bench.told.get(`${workload.tenantId}/${workload.reactorId}`)?.failureReason).to.equal('AuthorityUnusable');
  });
});
