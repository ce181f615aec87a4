import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { MERGE_PATCH_VECTORS } from '../../fixtures/merge-patch-vectors.ts';
import { rulesFor } from '../../support/access.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('the merge patch vectors of RFC 7386 through PATCH', () => {
  let vault: TestVault;
  let application: TestApplication;

  before(async () => {
    vault = await startTestVault();
    const tenantId = await vault.tenant();
    application = await vault.application({ tenantId, rules: rulesFor({ '/': 'reveal' }) });
  });
  after(() => vault.stop());

  // Each vector wrapped into one member of the data: there, null means what it means inside a patch.
  for (const [original, patch, result] of MERGE_PATCH_VECTORS) {
    it(`${original} + ${patch}`, async () => {
      const { key } = application;
      const [data, change, expected] = [original, patch, result].map((text) => ({ v: JSON.parse(text) as Json, w: 0 }));
      const created = await vault.request('POST', '/tokens', { key, body: { type: 'token', data: data! } });
      expect(created.status, JSON.stringify(created.body)).to.equal(201);
      const path = `/tokens/${created.body.id}`;
      const answer = await vault.request('PATCH', path, { key, body: { data: change! } });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      const read = await vault.request('GET', path, { key });
      expect(read.body.data).to.deep.equal(patch === 'null' ? { w: 0 } : expected);
    });
  }
});
