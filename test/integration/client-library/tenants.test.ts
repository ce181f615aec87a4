import { BasisTheory, type BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('the tenant through the client library', () => {
  let vault: TestVault;
  let manager: TestApplication;
  let client: BasisTheoryClient;

  before(async () => {
    vault = await startTestVault();
    manager = await vault.application({ type: 'management' });
    client = clientOf(vault, manager.key);
  });
  after(() => vault.stop());

  it('is read and renamed, and its settings changed', async () => {
    const settings = { deduplicate_tokens: 'false', fingerprint_tokens: 'true' };
    expect(await client.tenants.self.get()).to.deep.include({ id: manager.tenantId, type: 'production', settings });
    const changed = { ...settings, deduplicate_tokens: 'true' };
    const updated = await client.tenants.self.update({ name: 'Acme', settings: changed });
    expect(updated).to.deep.include({ id: manager.tenantId, name: 'Acme', settings: changed });
    expect(await client.tenants.self.get()).to.deep.include({ name: 'Acme', settings: changed });
  });

  it('says how many tokens it holds', async () => {
    const { totalTokens = 0 } = await client.tenants.self.getUsageReports();
    await clientOf(vault, (await vault.application()).key).tokens.create({ type: 'token', data: 'x' });
    expect(await client.tenants.self.getUsageReports()).to.deep.equal({ totalTokens: totalTokens + 1 });
  });

  it('is not for an application without tenant:read', async () => {
    const { key } = await vault.application({ type: 'management', permissions: ['log:read'] });
    await failureOf(clientOf(vault, key).tenants.self.get(), BasisTheory.ForbiddenError);
  });
});
