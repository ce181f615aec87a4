import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { createSweeper } from '../../../src/services/sweeper.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('answers kept for idempotency keys go', () => {
  let vault: TestVault;
  let tenantId: string;
  let manager: TestApplication;
  let application: TestApplication;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    manager = await vault.application({ tenantId, type: 'management' });
    application = await vault.application({ tenantId });
  });

  const create = (key: string) =>
    vault.request('POST', '/tokens', {
      key,
      headers: { 'svc-idempotency-key': randomUUID() },
      body: { type: 'token', data: 'a secret', containers: ['/pci/'] },
    });
  const remove = async ({ id }: TestApplication) => {
    expect((await vault.request('DELETE', `/applications/${id}`, { key: manager.key })).status).to.equal(204);
  };
  async function kept({ id }: TestApplication): Promise<number> {
    const rows = await vault.database.run({ text: 'select from idempotent_answers where application_id = $1' }, [id]);
    return rows.length;
  }

  it('with their application, and none of another', async () => {
    const other = await vault.application({ tenantId });
    for (const { key } of [application, application, other]) expect((await create(key)).status).to.equal(201);
    expect([await kept(application), await kept(other)]).to.deep.equal([2, 1]);
    await remove(application);
    expect([await kept(application), await kept(other)]).to.deep.equal([0, 1]);
  });

  it('with the declaration of their application: one declared anew with its id does not find them', async () => {
    const path = `/tenants/${tenantId}/applications/${application.id}`;
    await create(application.key);
    expect((await vault.internal('DELETE', path)).status).to.equal(204);
    expect(await kept(application)).to.equal(0);
  });

  it('with the application that created their session', async () => {
    const browser = await vault.application({ tenantId, type: 'public' });
    const rules = [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:create' as const] }];
    const { body: session } = await vault.request('POST', '/sessions', { key: browser.key });
    const granted = await vault.request('POST', '/sessions/authorize', {
      key: application.key,
      body: { nonce: session.nonce, rules },
    });
    expect(granted.status).to.equal(200);
    expect((await create(session.session_key as string)).status).to.equal(201);
    expect(await kept(browser)).to.equal(1);
    await remove(browser);
    expect(await kept(browser)).to.equal(0);
  });

  it('with an application that expires, once it is swept', async () => {
    await create(application.key);
    const expire = 'update applications set expires_at = now(), declared = false where application_id = $1';
    await vault.database.run({ text: expire }, [application.id]);
    await createSweeper({
      ...{ database: vault.maintenance, logger: silentLogger, metrics: createMetrics() },
      dataKeys: { forget: () => undefined } as never,
      shredCvcKeys: async () => 0,
    }).sweep();
    expect(await kept(application)).to.equal(0);
  });

  it('with their tenant', async () => {
    await create(application.key);
    expect(await kept(application)).to.equal(1);
    await vault.internal('DELETE', `/tenants/${tenantId}`);
    expect(await kept(application)).to.equal(0);
  });

  it('as soon as they would come, where their application went meanwhile: the request succeeds', async () => {
    const second = await vault.application({ tenantId, type: 'management' });
    let request!: Promise<Answer>;
    await vault.database.transaction(async (transaction) => {
      await transaction.run({ text: 'select from applications where application_id = $1 for update' }, [
        application.id,
      ]);
      request = vault.request('PUT', `/applications/${application.id}`, {
        key: second.key,
        headers: { 'svc-idempotency-key': randomUUID() },
        body: { name: 'changed', permissions: ['token:read'] },
      });
      await eventually(async () => expect(await kept(second)).to.equal(1));
      await remove(second);
    });
    const { status, body } = await request;
    expect([status, body.name]).to.deep.equal([200, 'changed']);
    expect(await kept(second)).to.equal(0);
  });
});
