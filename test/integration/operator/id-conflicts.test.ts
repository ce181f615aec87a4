import { expect } from 'chai';
import { declaredId, tenantIdOf } from '../../../src/domain/declarations.ts';
import { eventually } from '../../support/eventually.ts';
import {
  applicationPath,
  createControlPlane,
  digestsAt,
  heldAt,
  manifest,
  TENANT,
} from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';

const ACME = tenantIdOf('acme');
const FREE_ID = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
const CODE = 'module.exports = async () => ({ raw: {} });';

const adopting = (id: string, namespace = 'elsewhere') => ({
  namespace,
  annotations: { 'tokenkeep.dev/id': id },
});

describe('an id of the API that several resources ask for', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
  });
  afterEach(() => plane.close());

  const start = async () => {
    const operator = await plane.start();
    await operator.reconciled;
    return operator;
  };
  const application = (name: string, metadata: object = {}, spec: object = {}) =>
    manifest('Application', name, { type: 'private', ...spec }, metadata);
  const isReady = (kind: string, name: string) =>
    eventually(async () => expect(await plane.condition(kind, name)).to.include({ status: 'True' }));
  const isRefused = (kind: string, name: string, holder: string) =>
    eventually(async () => {
      const condition = await plane.condition(kind, name, 'Stalled');
      expect(condition).to.include({ status: 'True', reason: 'IdConflict' });
      expect(condition?.message).to.include(holder);
    });
  const isForgotten = (kind: string, name: string) =>
    eventually(async () => expect(await plane.record(kind, name)).to.be.undefined);

  it('is that of the one whose name it follows from: no annotation takes its key or deletes it', async () => {
    await plane.write('free.yaml', application('free'));
    await start();
    const digests = digestsAt(plane, applicationPath('free'));
    const freeId = declaredId(TENANT, 'Application', 'default', 'free');
    await plane.write('thief.yaml', application('thief', adopting(freeId.toUpperCase())));
    await isRefused('Application', 'thief', 'Application default/free');
    await plane.remove('thief.yaml');
    await isForgotten('Application', 'thief');
    expect(digestsAt(plane, applicationPath('free'))).to.deep.equal(digests);
    expect(heldAt(plane, applicationPath('free')).name).to.equal('free');
  });

  it('goes back to that one where it comes later, and the other neither keeps nor deletes it', async () => {
    const freeId = declaredId(TENANT, 'Application', 'default', 'free');
    await plane.write('thief.yaml', application('thief', adopting(freeId)));
    await start();
    await isReady('Application', 'thief');
    await plane.write('free.yaml', application('free'));
    await isRefused('Application', 'thief', 'Application default/free');
    await isReady('Application', 'free');
    await plane.remove('thief.yaml');
    await isForgotten('Application', 'thief');
    expect(heldAt(plane, applicationPath('free')).name).to.equal('free');
  });

  it('stays with the one that adopted it, whoever is elder, and passes on once that one lets go of it', async () => {
    await plane.write('elder.yaml', application('elder', { namespace: 'elsewhere' }));
    await start();
    await plane.write('holder.yaml', application('holder', adopting(FREE_ID, 'default'), { deletionPolicy: 'Retain' }));
    await isReady('Application', 'holder');
    await plane.write('elder.yaml', application('elder', adopting(FREE_ID)));
    await isRefused('Application', 'elder', 'Application default/holder');
    expect(heldAt(plane, `tenants/${TENANT}/applications/${FREE_ID}`).name).to.equal('holder');
    expect(heldAt(plane, applicationPath('elder', TENANT, 'elsewhere')).name).to.equal('elder');

    await plane.remove('holder.yaml');
    await isReady('Application', 'elder');
    expect(heldAt(plane, `tenants/${TENANT}/applications/${FREE_ID}`).name).to.equal('elder');
    expect(plane.api.held.has(applicationPath('elder', TENANT, 'elsewhere'))).to.be.false;
  });

  it('is that of the eldest where several ask for it at once', async () => {
    await plane.write('a.yaml', application('first', adopting(FREE_ID)) + application('second', adopting(FREE_ID)));
    await start();
    await isReady('Application', 'first');
    await isRefused('Application', 'second', 'Application elsewhere/first');
    expect(heldAt(plane, `tenants/${TENANT}/applications/${FREE_ID}`).name).to.equal('first');
  });

  it('is another in another tenant', async () => {
    await plane.write('acme.yaml', manifest('Tenant', 'acme', { namespaces: { matchNames: ['elsewhere'] } }));
    await plane.write(
      'a.yaml',
      application('ours', adopting(FREE_ID, 'default')) + application('theirs', adopting(FREE_ID)),
    );
    await start();
    await isReady('Application', 'ours');
    await isReady('Application', 'theirs');
  });

  it('cannot be taken from a reactor either', async () => {
    await plane.write('brand.yaml', manifest('Reactor', 'brand', { code: CODE }));
    await start();
    const id = declaredId(TENANT, 'Reactor', 'default', 'brand');
    await plane.write('thief.yaml', manifest('Reactor', 'thief', { code: `${CODE} // theirs` }, adopting(id)));
    await isRefused('Reactor', 'thief', 'Reactor default/brand');
    await plane.remove('thief.yaml');
    await isForgotten('Reactor', 'thief');
    expect(heldAt(plane, `tenants/${TENANT}/reactors/${id}`)).to.include({ code: CODE });
  });

  it('cannot be taken from a Tenant, nor do its namespaces join that one', async () => {
    await plane.write('acme.yaml', manifest('Tenant', 'acme', { namespaces: { matchNames: ['default'] } }));
    await plane.write('shop.yaml', application('shop', { namespace: 'elsewhere' }));
    await start();
    const spec = { namespaces: { matchNames: ['elsewhere'] }, deletionPolicy: 'Delete' };
    await plane.write('thief.yaml', manifest('Tenant', 'thief', spec, { annotations: { 'tokenkeep.dev/id': ACME } }));
    await isRefused('Tenant', 'thief', 'Tenant acme');
    await eventually(async () => {
      expect(await plane.condition('Application', 'shop')).to.include({ reason: 'TenantNotReady' });
    });
    await plane.remove('thief.yaml');
    await isForgotten('Tenant', 'thief');
    expect(heldAt(plane, `tenants/${ACME}`).name).to.equal('acme');
    expect(plane.api.held.has(applicationPath('shop', ACME, 'elsewhere'))).to.be.false;
  });

  it('cannot be that of the tenant default, which nobody needs to declare', async () => {
    const annotations = { 'tokenkeep.dev/id': TENANT };
    await plane.write('thief.yaml', manifest('Tenant', 'thief', { deletionPolicy: 'Delete' }, { annotations }));
    await start();
    await isRefused('Tenant', 'thief', 'Tenant default');
    await plane.remove('thief.yaml');
    await isForgotten('Tenant', 'thief');
    expect(heldAt(plane, `tenants/${TENANT}`)).to.include({ declared: false });
  });
});
