import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TenantDeclaration } from '../../../src/domain/declarations.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../../src/domain/tenants.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('a tenant that the control plane declares', () => {
  let vault: TestVault;
  let id: string;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());

  const declaration: TenantDeclaration = {
    ...{ name: 'default', type: 'production', quotas: DEFAULT_QUOTAS, settings: DEFAULT_SETTINGS },
  };
  const declare = async (overrides: Partial<TenantDeclaration>): Promise<boolean> => {
    const answer = await vault.internal('PUT', `/tenants/${id}`, { ...declaration, ...overrides });
    return answer.body.changed as boolean;
  };
  const tenant = async () => (await vault.request('GET', '/tenants/self', { key: manager.key })).body;
  const takeOver = () =>
    vault.request('PUT', '/tenants/self', {
      ...{ key: manager.key, body: { name: 'own', settings: { deduplicate_tokens: 'true' } } },
    });
  const own = { name: 'own', settings: { deduplicate_tokens: 'true', fingerprint_tokens: 'true' } };
  const given = { name: 'default', settings: { deduplicate_tokens: 'false', fingerprint_tokens: 'true' } };

  async function begin(overrides: Partial<TenantDeclaration>): Promise<void> {
    id = randomUUID();
    expect(await declare(overrides)).to.equal(true);
    manager = await vault.application({ type: 'management', tenantId: id });
  }

  it('gets back what its resource says', async () => {
    await begin({});
    await takeOver();
    expect(await tenant()).to.deep.include(own);
    expect(await declare({})).to.equal(true);
    expect(await tenant()).to.deep.include(given);
  });

  it('keeps its own name and settings where no resource declares it, under the quotas that hold there', async () => {
    await begin({ declared: false });
    expect(await tenant()).to.deep.include(given);
    await takeOver();
    expect(await declare({ declared: false })).to.equal(false);
    expect(await declare({ declared: false, quotas: { ...DEFAULT_QUOTAS, tokenize: 9 } })).to.equal(true);
    const held = await tenant();
    expect(held).to.deep.include(own);
    expect(held.quotas.tokenize).to.equal(9);
  });

  it('becomes what a resource says once there is one, and goes back to defaults with it', async () => {
    await begin({ declared: false });
    await takeOver();
    const settings = { ...DEFAULT_SETTINGS, fingerprintTokens: false };
    expect(await declare({ settings })).to.equal(true);
    expect(await tenant()).to.deep.include({
      name: 'default',
      settings: { deduplicate_tokens: 'false', fingerprint_tokens: 'false' },
    });
    expect(await declare({ declared: false })).to.equal(true);
    expect(await tenant()).to.deep.include(given);
  });
});
