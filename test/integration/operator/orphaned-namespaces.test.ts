import { expect } from 'chai';
import { tenantIdOf } from '../../../src/domain/declarations.ts';
import { eventually } from '../../support/eventually.ts';
import {
  applicationPath,
  createControlPlane,
  digestsAt,
  heldAt,
  manifest,
  reactorPath,
  TENANT,
} from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';

const ACME = tenantIdOf('acme');
const CODE = 'module.exports = async () => ({ raw: {} });';

describe('a namespace that has lost its tenant', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
    await plane.write('acme.yaml', tenant('acme'));
    await plane.write('shop.yaml', manifest('Application', 'shop', { type: 'private' }));
    await plane.write('brand.yaml', manifest('Reactor', 'brand', { code: CODE }));
  });
  afterEach(() => plane.close());

  const tenant = (name: string, matchNames = ['default']) => manifest('Tenant', name, { namespaces: { matchNames } });
  const start = async () => {
    const operator = await plane.start();
    await operator.reconciled;
    return operator;
  };
  const waits = (kind: string, name: string) =>
    eventually(async () => {
      const condition = await plane.condition(kind, name);
      expect(condition).to.include({ status: 'False', reason: 'TenantNotReady' });
      expect(condition?.message).to.include('Namespace default').and.to.include('Tenant default').and.to.include(ACME);
    });
  const isReady = (kind: string, name: string) =>
    eventually(async () => expect(await plane.condition(kind, name)).to.include({ status: 'True' }));
  const declaredIn = (tenantId: string) =>
    [...plane.api.held.keys()].filter(
      (path) => path.startsWith(`tenants/${tenantId}/`) && !path.endsWith('/instances'),
    );
  const holdsNothingIn = (tenantId: string) => expect(declaredIn(tenantId)).to.deep.equal([]);
  const loseTenant = async () => {
    await plane.remove('acme.yaml');
    await waits('Application', 'shop');
    await waits('Reactor', 'brand');
  };

  it('keeps what it has where that was declared: no key of it ever opens the tenant default', async () => {
    const operator = await start();
    const digests = digestsAt(plane, applicationPath('shop', ACME));
    await loseTenant();
    await plane.stop(operator);
    await start();
    await waits('Application', 'shop');
    expect(digestsAt(plane, applicationPath('shop', ACME))).to.deep.equal(digests);
    expect(heldAt(plane, reactorPath('brand', ACME))).to.include({ code: CODE });
    holdsNothingIn(TENANT);
    expect(plane.api.requests.filter((request) => request.startsWith(`PUT tenants/${TENANT}/`))).to.be.empty;
  });

  it('goes on once its tenant is declared again', async () => {
    await start();
    await loseTenant();
    await plane.write('acme.yaml', tenant('acme'));
    await isReady('Application', 'shop');
    await isReady('Reactor', 'brand');
    holdsNothingIn(TENANT);
  });

  it('moves to the tenant default where that names it', async () => {
    await start();
    const digests = digestsAt(plane, applicationPath('shop', ACME));
    await loseTenant();
    await plane.write('default.yaml', tenant('default'));
    await isReady('Application', 'shop');
    await isReady('Reactor', 'brand');
    expect(digestsAt(plane, applicationPath('shop'))).to.deep.equal(digests);
    holdsNothingIn(ACME);
  });

  it('moves at once to another tenant that asks for it', async () => {
    const umbrella = tenantIdOf('umbrella');
    await plane.write('umbrella.yaml', tenant('umbrella'));
    await start();
    await plane.remove('acme.yaml');
    await eventually(() => expect(plane.api.held.has(applicationPath('shop', umbrella))).to.be.true);
    await isReady('Application', 'shop');
    holdsNothingIn(TENANT);
  });

  it('lets go of what is deleted meanwhile', async () => {
    await start();
    await loseTenant();
    await plane.remove('shop.yaml');
    await plane.remove('brand.yaml');
    await eventually(async () => expect(await plane.record('Application', 'shop')).to.be.undefined);
    await eventually(async () => expect(await plane.record('Reactor', 'brand')).to.be.undefined);
    holdsNothingIn(ACME);
  });

  it('has new declarations in the tenant default, as any namespace that no Tenant asks for', async () => {
    await start();
    await loseTenant();
    await plane.write('till.yaml', manifest('Application', 'till', { type: 'private' }));
    await isReady('Application', 'till');
    expect(plane.api.held.has(applicationPath('till'))).to.be.true;
    await waits('Application', 'shop');
  });
});
