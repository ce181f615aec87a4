import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { requireKubernetes } from '../../../support/kubernetes/control-plane.ts';
import type { KubernetesCluster } from '../../../support/kubernetes/control-plane.ts';
import { createKubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { startTestVault } from '../../../support/vault.ts';
import type { TestVault } from '../../../support/vault.ts';

const WAIT = { deadlineMs: 60_000 };
const SECRET = 'payments-api-key';

describe('what is declared in a cluster holds at the API', function () {
  this.timeout(180_000);
  let cluster: KubernetesCluster;
  let plane: KubernetesPlane;
  let vault: TestVault;

  before(async function () {
    this.timeout(600_000);
    cluster = await requireKubernetes(this);
    vault = await startTestVault();
  });
  after(() => vault?.stop());
  beforeEach(async () => {
    plane = await createKubernetesPlane(cluster);
    await plane.apply('Tenant', plane.tenantName('a'), {
      spec: { namespaces: { matchNames: [plane.namespace] }, quotas: { rateLimit: 'Unlimited' } },
    });
  });
  afterEach(() => plane.close());

  const start = () => plane.start({ internalApi: { baseUrl: vault.internalUrl, token: vault.internalToken } });
  const declare = (spec: object) => plane.apply('Application', 'payments', { spec: { type: 'private', ...spec } });
  const keyIn = async () => (await plane.secret(SECRET))['api-key'] ?? '';
  const create = async (key: string) =>
    (await vault.request('POST', '/tokens', { key, body: { type: 'token', data: 'text' } })).status;
  const answers = (key: string, status: number) =>
    eventually(async () => expect(await create(key)).to.equal(status), WAIT);

  it('the key of the Secret works with the permissions declared, and with no others', async () => {
    await declare({ permissions: ['token:create'] });
    await start();
    const key = await keyIn();
    await answers(key, 201);
    expect((await vault.request('GET', '/applications', { key })).status).to.equal(403);
    await declare({ permissions: ['token:read'] });
    await answers(key, 403);
  });

  it('an access rule holds from when it is declared until it is deleted', async () => {
    await declare({});
    await start();
    const key = await keyIn();
    await answers(key, 403);
    await plane.apply('AccessRule', 'writers', {
      spec: {
        ...{ applicationRef: { name: 'payments' }, priority: 1, container: '/' },
        ...{ transform: 'mask', permissions: ['token:create'] },
      },
    });
    await answers(key, 201);
    await plane.remove('AccessRule', 'writers');
    await answers(key, 403);
  });

  it('the key of a Secret that is deleted is refused, and the one that comes in its place works', async () => {
    await declare({ permissions: ['token:create'] });
    await start();
    const former = await keyIn();
    await plane.remove('Secret', SECRET);
    const key = await eventually(async () => {
      const next = await keyIn();
      expect(next).not.to.equal(former);
      return next;
    }, WAIT);
    await answers(key, 201);
    await answers(former, 401);
  });

  it('a rotated key and the one before it both work during the overlap', async () => {
    await declare({ permissions: ['token:create'] });
    await start();
    const former = await keyIn();
    const long = new Date(Date.now() - 7_200_000).toISOString();
    await plane.patch('Secret', SECRET, { metadata: { annotations: { 'tokenkeep.dev/key-created-at': long } } });
    await declare({ permissions: ['token:create'], key: { rotateAfter: '1h', overlap: '30m' } });
    const key = await eventually(async () => {
      const next = await keyIn();
      expect(next).not.to.equal(former);
      return next;
    }, WAIT);
    await answers(key, 201);
    expect(await create(former)).to.equal(201);
  });

  it('the key of one that moves to another tenant opens that one alone, also where the former is retained', async () => {
    await declare({ permissions: ['token:create', 'token:read'], deletionPolicy: 'Retain' });
    await start();
    const key = await keyIn();
    await answers(key, 201);
    const { body } = await vault.request('POST', '/tokens', { key, body: { type: 'token', data: 'text' } });
    const read = async () => (await vault.request('GET', `/tokens/${String(body.id)}`, { key })).status;
    expect(await read()).to.equal(200);

    await plane.apply('Tenant', plane.tenantName('a'), { spec: { namespaces: { matchNames: ['elsewhere'] } } });
    await plane.apply('Tenant', plane.tenantName('b'), { spec: { namespaces: { matchNames: [plane.namespace] } } });
    await eventually(async () => expect(await read()).to.equal(404), WAIT);
    await answers(key, 201);
    expect(await keyIn()).to.equal(key);
    await eventually(async () => {
      expect(await plane.condition('Application', 'payments')).to.include({ status: 'True' });
    }, WAIT);
  });

  it('the key of an application that is deleted is refused before its resource is gone', async () => {
    await declare({ permissions: ['token:create'] });
    await start();
    const key = await keyIn();
    await plane.remove('Application', 'payments');
    await eventually(async () => expect(await plane.read('Application', 'payments')).to.be.undefined, WAIT);
    await answers(key, 401);
  });
});
