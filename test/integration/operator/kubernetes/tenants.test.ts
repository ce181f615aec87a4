import { expect } from 'chai';
import { tenantIdOf } from '../../../../src/domain/declarations.ts';
import { eventually } from '../../../support/eventually.ts';
import type { KubernetesPlane } from '../../../support/operator/kubernetes-plane.ts';
import { useKubernetesPlane } from '../../../support/operator/use-kubernetes-plane.ts';

const WAIT = { deadlineMs: 30_000 };

describe('tenants in a cluster', function () {
  this.timeout(120_000);
  let plane: KubernetesPlane;
  let acme: string;
  let umbrella: string;

  useKubernetesPlane((made) => (plane = made));
  beforeEach(() => {
    acme = plane.tenantName('a');
    umbrella = plane.tenantName('b');
  });

  const tenantIs = (name: string, reason: string) =>
    eventually(async () => expect(await plane.condition('Tenant', name)).to.include({ reason }), WAIT);
  const isHeld = (name: string) => plane.api.held.has(`tenants/${tenantIdOf(name)}`);
  const pathIn = (tenant: string) => plane.applicationPath('payments', tenantIdOf(tenant));
  const isIn = (tenant: string) =>
    eventually(async () => {
      expect(plane.api.held.has(pathIn(tenant))).to.be.true;
      expect((await plane.read('Application', 'payments'))?.status?.['tenantId']).to.equal(tenantIdOf(tenant));
      expect(await plane.condition('Application', 'payments')).to.include({ status: 'True' });
    }, WAIT);
  const waitsForTenant = () =>
    eventually(async () => {
      expect(await plane.condition('Application', 'payments')).to.include({ reason: 'TenantNotReady' });
    }, WAIT);

  it('are declared with their defaults, and the tenant default without being declared', async () => {
    await plane.apply('Tenant', acme, { spec: { type: 'test', quotas: { tokenize: 7 } } });
    await plane.start();
    const { quotas, ...held } = plane.heldAt(`tenants/${tenantIdOf(acme)}`);
    expect(held).to.deep.include({ name: acme, type: 'test' });
    expect(quotas).to.include({ tokenize: 7, detokenize: 5 });
    expect((await plane.read('Tenant', acme))?.status).to.include({ id: tenantIdOf(acme), observedGeneration: 1 });
    expect(plane.heldAt(`tenants/${tenantIdOf('default')}`)).to.include({ declared: false });
  });

  it('have what is in the namespaces that they name; it moves there, and on once another names them', async () => {
    await plane.apply('Application', 'payments', { spec: { type: 'private' } });
    await plane.start();
    await isIn('default');
    await plane.apply('Tenant', acme, { spec: { namespaces: { matchNames: [plane.namespace] } } });
    await isIn(acme);
    expect(plane.api.held.has(pathIn('default'))).to.be.false;
    await plane.apply('Tenant', umbrella, { spec: { namespaces: { matchNames: [plane.namespace] } } });
    await plane.apply('Tenant', acme, { spec: { namespaces: { matchNames: ['elsewhere'] } } });
    await isIn(umbrella);
    expect(plane.api.held.has(pathIn(acme))).to.be.false;
  });

  it('leave what is in their namespaces where it is once they are gone; it goes on when they are back', async () => {
    const naming = { spec: { namespaces: { matchNames: [plane.namespace] } } };
    await plane.apply('Tenant', acme, naming);
    await plane.apply('Application', 'payments', { spec: { type: 'private' } });
    await plane.start();
    await isIn(acme);
    const { keys } = plane.heldAt(pathIn(acme));
    await plane.remove('Tenant', acme);
    await waitsForTenant();
    await plane.apply('Tenant', acme, naming);
    await isIn(acme);
    expect(plane.heldAt(pathIn(acme)).keys).to.deep.equal(keys);
    expect(plane.api.requests).not.to.include(`PUT ${pathIn('default')}`);
  });

  it('have what is in the namespaces that carry their labels; it moves there, and stays without', async () => {
    const label = `vault-${plane.namespace}`;
    await plane.apply('Tenant', acme, { spec: { namespaces: { selector: { matchLabels: { [label]: 'acme' } } } } });
    await plane.apply('Application', 'payments', { spec: { type: 'private' } });
    await plane.start();
    await isIn('default');
    await plane.patch('Namespace', plane.namespace, { metadata: { labels: { [label]: 'acme' } } });
    await isIn(acme);
    await plane.patch('Namespace', plane.namespace, { metadata: { labels: { [label]: null } } });
    await waitsForTenant();
    expect(plane.api.held.has(pathIn(acme))).to.be.true;
    expect(plane.api.held.has(pathIn('default'))).to.be.false;
  });

  it('keep a namespace from one that names it later, until they give it up', async () => {
    const naming = { spec: { namespaces: { matchNames: [plane.namespace] } } };
    await plane.apply('Tenant', acme, naming);
    await plane.apply('Application', 'payments', { spec: { type: 'private' } });
    await plane.start();
    await plane.apply('Tenant', umbrella, naming);
    await tenantIs(umbrella, 'NamespaceConflict');
    await isIn(acme);
    await plane.apply('Tenant', acme, { spec: { namespaces: { matchNames: ['elsewhere'] } } });
    await tenantIs(umbrella, 'Reconciled');
    await isIn(umbrella);
  });

  it('stay in the API once their resource is gone, unless the deletion policy says otherwise', async () => {
    await plane.apply('Tenant', acme, { spec: {} });
    await plane.apply('Tenant', umbrella, { spec: { deletionPolicy: 'Delete' } });
    await plane.start();
    for (const name of [acme, umbrella]) {
      await plane.remove('Tenant', name);
      await eventually(async () => expect(await plane.read('Tenant', name)).to.be.undefined, WAIT);
    }
    expect(isHeld(acme)).to.be.true;
    expect(isHeld(umbrella)).to.be.false;
  });

  it('are left as they are while paused', async () => {
    await plane.apply('Tenant', acme, { metadata: { annotations: { 'tokenkeep.dev/pause': 'true' } }, spec: {} });
    await plane.start();
    expect(await plane.condition('Tenant', acme, 'Paused')).to.include({ status: 'True' });
    expect(isHeld(acme)).to.be.false;
    await plane.patch('Tenant', acme, { metadata: { annotations: { 'tokenkeep.dev/pause': null } } });
    await tenantIs(acme, 'Reconciled');
  });

  it('adopt the id of an annotation', async () => {
    const id = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4e';
    await plane.apply('Tenant', acme, { metadata: { annotations: { 'tokenkeep.dev/id': id } }, spec: {} });
    await plane.start();
    expect(plane.api.held.has(`tenants/${id}`)).to.be.true;
    expect((await plane.read('Tenant', acme))?.status?.['id']).to.equal(id);
  });
});
