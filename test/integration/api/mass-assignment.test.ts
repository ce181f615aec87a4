import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

/** What the vault alone decides, as a caller might try to have it. */
const NOT_ITS_OWN = {
  tenant_id: randomUUID(),
  tenantId: randomUUID(),
  created_by: randomUUID(),
  created_at: '2001-01-01T00:00:00.000Z',
  modified_by: randomUUID(),
  modified_at: '2001-01-01T00:00:00.000Z',
  declared: true,
  version: 7,
};
const CODE = 'module.exports = async () => ({});';

describe('members of a body that are not the caller’s to set', () => {
  let vault: TestVault;
  let writer: TestApplication;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    writer = await vault.application();
    manager = await vault.application({ type: 'management' });
  });
  after(() => vault.stop());

  function expectUntouched(shown: Record<string, unknown>, maker: TestApplication): void {
    expect(shown).to.include({ tenant_id: maker.tenantId, created_by: maker.id });
    expect(shown).not.to.have.any.keys('tenantId', 'modified_by', 'modified_at', 'declared', 'version');
    expect(Date.parse(shown['created_at'] as string)).to.be.above(Date.now() - 3600_000);
  }

  it('are without effect where a token is created', async () => {
    const forged = { ...NOT_ITS_OWN, fingerprint: 'forged', enrichments: { card_details: {} } };
    const body = { type: 'token', data: 'x', ...forged };
    const created = await vault.request('POST', '/tokens', { key: writer.key, body });
    expect(created.status).to.equal(201);
    expectUntouched(created.body as Record<string, unknown>, writer);
    expect(created.body.fingerprint).not.to.equal('forged');
    expect(created.body).not.to.have.property('enrichments');
    const tokenized = await vault.request('POST', '/tokenize', { key: writer.key, body });
    expectUntouched(tokenized.body as Record<string, unknown>, writer);
  });

  it('are without effect where an application is created or replaced', async () => {
    const forged = { ...NOT_ITS_OWN, id: randomUUID(), key: 'key_prod_mgt_chosen', keys: [{ key: 'chosen' }] };
    const body = { name: 'x', type: 'private', permissions: ['token:create'], ...forged };
    const created = await vault.request('POST', '/applications', { key: manager.key, body });
    expect(created.status).to.equal(201);
    expectUntouched(created.body as Record<string, unknown>, manager);
    expect(created.body.id).not.to.equal(forged.id);
    expect(created.body.key).not.to.equal(forged.key);
    const path = `/applications/${created.body.id}`;
    const replaced = await vault.request('PUT', path, { key: manager.key, body: { ...body, type: 'management' } });
    expect(replaced.body).to.include({ id: created.body.id, type: 'private', tenant_id: manager.tenantId });
    expect(replaced.body).to.include({ created_by: manager.id, modified_by: manager.id });
  });

  it('are without effect where a reactor is created', async () => {
    const body = { name: 'x', code: CODE, configuration: {}, ...NOT_ITS_OWN, id: randomUUID(), revision: 'forged' };
    const created = await vault.request('POST', '/reactors', { key: manager.key, body });
    expect(created.status).to.equal(201);
    expectUntouched(created.body as Record<string, unknown>, manager);
    expect(created.body.id).not.to.equal(body.id);
    expect(created.body).not.to.have.property('revision');
  });
});
