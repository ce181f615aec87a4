import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { digestOfKey, generateApplicationKey } from '../../../src/domain/application-keys.ts';
import { eventually } from '../eventually.ts';
import type { TestVault } from '../vault.ts';
import { everything, type Tenancy } from './tenancy.ts';

const PAST = () => new Date(Date.now() - 60_000).toISOString();

async function useOnce(vault: TestVault, key: string): Promise<void> {
  const { status } = await vault.request('GET', '/tokens', { key });
  if (status !== 200) throw new Error(`a key that is still good is answered ${status}`);
}

async function deletedKey(vault: TestVault, { tenantId, keys }: Tenancy): Promise<string> {
  const application = await vault.application({ tenantId });
  const made = await vault.request('POST', `/applications/${application.id}/keys`, { key: keys.management });
  const { id, key } = made.body as { id: string; key: string };
  await useOnce(vault, key);
  await vault.request('DELETE', `/applications/${application.id}/keys/${id}`, { key: keys.management });
  return key;
}

async function keyOfDeletedApplication(vault: TestVault, { tenantId, keys }: Tenancy): Promise<string> {
  const { id, key } = await vault.application({ tenantId });
  await useOnce(vault, key);
  await vault.request('DELETE', `/applications/${id}`, { key: keys.management });
  return key;
}

async function keyOfDeletedTenant(vault: TestVault): Promise<string> {
  const tenantId = await vault.tenant();
  const { key } = await vault.application({ tenantId });
  await useOnce(vault, key);
  await vault.internal('DELETE', `/tenants/${tenantId}`);
  return key;
}

async function expiredKey(vault: TestVault, { tenantId }: Tenancy): Promise<string> {
  const key = generateApplicationKey('production', 'private');
  const keys = [{ id: randomUUID(), digest: digestOfKey(key), expiresAt: PAST() }];
  await vault.application({ tenantId, declaration: { keys } });
  return key;
}

async function keyOfExpiredApplication(vault: TestVault, { tenantId }: Tenancy): Promise<string> {
  return (await vault.application({ tenantId, declaration: { expiresAt: PAST() } })).key;
}

async function keyOfEndedSession(vault: TestVault, tenancy: Tenancy): Promise<string> {
  const key = await tenancy.sessionKey([everything('mask')], 1_000);
  await useOnce(vault, key);
  await eventually(async () => expect((await vault.request('GET', '/tokens', { key })).status).to.equal(401));
  return key;
}

/** Keys that are not good, by the reason. Those that ever were have been used while they were. */
export async function makeBadKeys(vault: TestVault, tenancy: Tenancy): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['malformed', 'key_prod_pvt_short'],
    ['unknown', generateApplicationKey('production', 'private')],
    ['deleted', await deletedKey(vault, tenancy)],
    ['expired', await expiredKey(vault, tenancy)],
    ['of a deleted application', await keyOfDeletedApplication(vault, tenancy)],
    ['of an expired application', await keyOfExpiredApplication(vault, tenancy)],
    ['of an ended session', await keyOfEndedSession(vault, tenancy)],
    ['of a deleted tenant', await keyOfDeletedTenant(vault)],
  ]);
}
