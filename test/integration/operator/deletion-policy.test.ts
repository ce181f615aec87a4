import { expect } from 'chai';
import { tenantIdOf } from '../../../src/domain/declarations.ts';
import { eventually } from '../../support/eventually.ts';
import { applicationPath, createControlPlane, manifest, reactorPath } from '../../support/operator/control-plane.ts';
import type { ControlPlane } from '../../support/operator/control-plane.ts';

const DECLARED = [
  { kind: 'Tenant', spec: {}, path: `tenants/${tenantIdOf('shop')}` },
  { kind: 'Application', spec: { type: 'private' }, path: applicationPath('shop') },
  { kind: 'Reactor', spec: { code: 'module.exports = async () => ({ raw: {} });' }, path: reactorPath('shop') },
];

describe('a deletion policy that was edited and never reconciled before the deletion', () => {
  let plane: ControlPlane;

  beforeEach(async () => {
    plane = await createControlPlane();
  });
  afterEach(() => plane.close());

  for (const { kind, spec, path } of DECLARED) {
    const declare = (deletionPolicy: string, annotations: object = {}) =>
      plane.write('shop.yaml', manifest(kind, 'shop', { ...spec, deletionPolicy }, { annotations }));

    async function editAndRemove(former: string, last: string): Promise<void> {
      await declare(former);
      await (
        await plane.start()
      ).reconciled;
      // Nothing of a paused resource is reconciled but its end.
      await declare(last, { 'tokenkeep.dev/pause': 'true' });
      await eventually(async () =>
        expect(await plane.condition(kind, 'shop', 'Paused')).to.include({ status: 'True' }),
      );
      expect((await plane.record(kind, 'shop'))?.status).to.include({ deletionPolicy: former });
      await plane.remove('shop.yaml');
      await eventually(async () => expect(await plane.record(kind, 'shop')).to.be.undefined);
    }

    it(`keeps what a ${kind} declared where its last word is Retain`, async () => {
      await editAndRemove('Delete', 'Retain');
      expect(plane.api.held.has(path)).to.be.true;
      if (kind === 'Application') expect(await plane.secret('shop-api-key', 'api-key')).to.match(/^key_/);
    });

    it(`keeps what a ${kind} declared where that was in force`, async () => {
      await editAndRemove('Retain', 'Delete');
      expect(plane.api.held.has(path)).to.be.true;
    });

    it(`has what a ${kind} declared deleted where both say Delete`, async () => {
      await editAndRemove('Delete', 'Delete');
      expect(plane.api.held.has(path)).to.be.false;
    });
  }
});
