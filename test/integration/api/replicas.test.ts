import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

/** A change must be seen by every replica within this time. */
const SEEN_WITHIN_MS = 1_000;

describe('a second API over the same database', () => {
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault();
    replica = await startReplica(vault);
    manager = await vault.application({ type: 'management' });
  });
  after(async () => {
    await replica.stop();
    await vault.stop();
  });

  async function statusAtReplica(key: string): Promise<number> {
    const { status } = await fetch(`${replica.baseUrl}/tokens`, { headers: { 'svc-api-key': key } });
    return status;
  }

  async function expectSoon(key: string, status: number): Promise<void> {
    await eventually(async () => expect(await statusAtReplica(key)).to.equal(status), { deadlineMs: SEEN_WITHIN_MS });
  }

  it('refuses the keys of a deleted application', async () => {
    const { id, key } = await vault.application();
    expect(await statusAtReplica(key)).to.equal(200);
    await vault.request('DELETE', `/applications/${id}`, { key: manager.key });
    await expectSoon(key, 401);
  });

  it('refuses a deleted key', async () => {
    const { id } = await vault.application();
    const { body } = await vault.request('POST', `/applications/${id}/keys`, { key: manager.key });
    expect(await statusAtReplica(body.key as string)).to.equal(200);
    await vault.request('DELETE', `/applications/${id}/keys/${body.id}`, { key: manager.key });
    await expectSoon(body.key as string, 401);
  });

  it('goes by the permissions that an application has been given', async () => {
    const { id, key } = await vault.application();
    expect(await statusAtReplica(key)).to.equal(200);
    const body = { name: 'x', permissions: ['token:create'] };
    await vault.request('PUT', `/applications/${id}`, { key: manager.key, body });
    await expectSoon(key, 403);
  });

  it('refuses the keys of a deleted tenant', async () => {
    const tenantId = await vault.tenant();
    const { key } = await vault.application({ tenantId });
    expect(await statusAtReplica(key)).to.equal(200);
    await vault.internal('DELETE', `/tenants/${tenantId}`);
    await expectSoon(key, 401);
  });

  it('reads what the first one stored', async () => {
    const { key } = await vault.application();
    const { body } = await vault.request('POST', '/detokenize', { key, body: {} });
    expect(body).to.deep.equal({});
    const token = await vault.request('POST', '/tokens', {
      ...{ key, body: { type: 'token', data: 'abc', mask: '{{ data | reveal_last: 1 }}' } },
    });
    const response = await fetch(`${replica.baseUrl}/tokens/${token.body.id}`, { headers: { 'svc-api-key': key } });
    expect(await response.json()).to.have.property('data', 'XXc');
  });
});
