import { expect } from 'chai';
import { createResourceWrites } from '../../../../src/operator/sources/kubernetes/resource-writes.ts';
import { createKubernetesClient } from '../../../../src/platform/kubernetes/client.ts';
import { json, startScriptedApi } from '../../../support/kubernetes/scripted-api.ts';
import { rejection } from '../../../support/rejection.ts';

const FINALIZER = 'tokenkeep.dev/cleanup';

describe('writes to a custom resource', () => {
  it('that were to take the finalizer off fail where it is still there, as where a webhook puts it back', async () => {
    const api = await startScriptedApi();
    const client = createKubernetesClient({ kubeConfig: api.kubeConfig });
    const known = { uid: 'uid-1', resourceVersion: '7', finalizers: [FINALIZER] };
    const idle = { observe: () => undefined, start: async () => {}, stop: async () => {} };
    const writes = createResourceWrites(client, { ...idle, get: () => known });
    const metadata = { name: 'payments', namespace: 'shop', uid: 'uid-1' };
    api.others.push(
      json({ metadata: { ...metadata, resourceVersion: '8', finalizers: [FINALIZER] } }),
      json({ metadata: { ...metadata, resourceVersion: '9' } }),
    );
    const ref = { kind: 'Application', namespace: 'shop', name: 'payments' } as const;
    const error = await rejection(writes.setFinalizer(ref, false));
    expect(error.message).to.include('Application shop/payments').and.include('put there again');
    await writes.setFinalizer(ref, false);
    expect(api.seen.map(({ body }) => JSON.parse(body) as unknown)).to.deep.equal(
      Array(2).fill({ metadata: { uid: 'uid-1', resourceVersion: '7', finalizers: null } }),
    );
    client.close();
    await api.close();
  });
});
