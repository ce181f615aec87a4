import { expect } from 'chai';
import { tenantIdOf } from '../../../src/domain/declarations.ts';
import { eventually } from '../../support/eventually.ts';
import { applicationPath, createControlPlane, manifest, TENANT } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';

const ACME = tenantIdOf('acme');

describe('a tenant that the API has lost without a word', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
    // As the API does: what belongs to a tenant needs it.
    plane.api.refuse = (method, path) => {
      const [, tenantId = '', kind] = path.split('/');
      const isMissing = path.startsWith('tenants/') && kind !== undefined && !plane.api.held.has(`tenants/${tenantId}`);
      return method === 'PUT' && isMissing ? { status: 404, body: { title: 'Not Found', status: 404 } } : undefined;
    };
  });
  afterEach(() => plane.close());

  const declareTenant = (annotations: Record<string, string> = {}) =>
    plane.write('acme.yaml', manifest('Tenant', 'acme', { namespaces: { matchNames: ['default'] } }, { annotations }));
  const declareApplication = (spec: object = {}) =>
    plane.write('shop.yaml', manifest('Application', 'shop', { type: 'private', ...spec }));
  const isReady = (displayName: string, tenantId: string) =>
    eventually(async () => {
      expect(plane.api.held.get(applicationPath('shop', tenantId))).to.include({ name: displayName });
      expect(await plane.condition('Application', 'shop')).to.include({ status: 'True' });
    });

  it('is declared again once something of it is found missing it, which goes on', async () => {
    await declareTenant();
    await declareApplication();
    await (
      await plane.start()
    ).reconciled;
    plane.api.held.clear();
    await declareApplication({ displayName: 'Shop' });
    await isReady('Shop', ACME);
    expect(plane.api.held.has(`tenants/${ACME}`)).to.be.true;
  });

  it('is also where nobody declares it: the tenant default', async () => {
    await declareApplication();
    await (
      await plane.start()
    ).reconciled;
    plane.api.held.clear();
    await declareApplication({ displayName: 'Shop' });
    await isReady('Shop', TENANT);
  });

  it('is waited for while it is paused, and the reason names it and not the API', async () => {
    await declareTenant();
    await declareApplication();
    await (
      await plane.start()
    ).reconciled;
    await declareTenant({ 'tokenkeep.dev/pause': 'true' });
    await eventually(async () =>
      expect(await plane.condition('Tenant', 'acme', 'Paused')).to.include({ status: 'True' }),
    );
    plane.api.held.clear();
    await declareApplication({ displayName: 'Shop' });
    await eventually(async () => {
      const condition = await plane.condition('Application', 'shop');
      expect(condition).to.include({ status: 'False', reason: 'TenantNotReady' });
      expect(condition?.message).to.include('namespace default');
    });
    await declareTenant();
    await isReady('Shop', ACME);
  });
});
