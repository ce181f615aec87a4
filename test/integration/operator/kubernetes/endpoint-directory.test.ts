import { expect } from 'chai';
import { createEndpointDirectory } from '../../../../src/operator/kubernetes/endpoint-directory.ts';
import { systemTimers } from '../../../../src/operator/timers.ts';
import type { KubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import { clientOf } from '../../../support/operator/kubernetes-plane.ts';

const SLICES = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespace: 'default' };

describe('the directory of replicas of the API in a cluster', function () {
  this.timeout(60_000);
  let client: KubernetesClient;

  before(async function () {
    this.timeout(600_000);
    client = clientOf((await requireKubernetes(this)).adminKubeconfig);
  });
  after(() => client?.close());

  const slice = (name: string, service: string, ...addresses: string[]) => ({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: { name, labels: { 'kubernetes.io/service-name': service } },
    ports: [{ name: 'internal', port: 8443 }],
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true, serving: true } })),
  });

  it('tells of the pods of the Service alone, and of each change', async () => {
    const names = ['internal-1', 'internal-2', 'other-1'].map((name) => `${name}-${process.pid}`) as [
      string,
      string,
      string,
    ];
    const service = `internal-${process.pid}`;
    await client.create(SLICES, slice(names[0], service, '10.1.0.1'));
    await client.create(SLICES, slice(names[2], 'other', '10.9.0.9'));
    const told: (readonly string[])[] = [];
    const directory = createEndpointDirectory({
      ...{ client, clock: systemTimers, logger: silentLogger, protocol: 'https:' },
      service: { namespace: 'default', name: service },
    });
    try {
      directory.start((origins) => void told.push(origins));
      await eventually(() => expect(told.at(-1)).to.deep.equal(['https://10.1.0.1:8443']));
      await client.create(SLICES, slice(names[1], service, '10.1.0.2'));
      await eventually(() => expect(told.at(-1)).to.deep.equal(['https://10.1.0.1:8443', 'https://10.1.0.2:8443']));
      await client.remove({ ...SLICES, name: names[0] });
      await eventually(() => expect(told.at(-1)).to.deep.equal(['https://10.1.0.2:8443']));
      expect(told.flat()).not.to.include('https://10.9.0.9:8443');
    } finally {
      await directory.stop();
      for (const name of names) await client.remove({ ...SLICES, name });
    }
  });
});
