import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { digestOfKey } from '../../../src/domain/application-keys.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('application keys over the API', () => {
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;
  let application: { id: string; key: string; keys: { id: string }[] };

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
  });
  after(() => vault.stop());
  beforeEach(async () => {
    manager = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    const body = { name: 'Checkout', type: 'private', permissions: ['token:read'] };
    application = (await send('POST', '/applications', body)).body;
  });

  const send = (method: string, path: string, body?: object) =>
    contract.request(method, path, { key: manager.key, ...(body ? { body } : {}) });
  const keys = (path = '') => `/applications/${application.id}/keys${path}`;
  const use = async (key: string) => (await vault.request('GET', '/tokens', { key })).status;

  it('are made beside those that there are, which go on working', async () => {
    const { status, headers, body } = await send('POST', keys());
    expect(status).to.equal(201);
    expect(headers.get('location')).to.equal(keys(`/${body.id}`));
    expect(body).to.include({ tenant_id: manager.tenantId, created_by: manager.id });
    expect(await use(body.key)).to.equal(200);
    expect(await use(application.key)).to.equal(200);
  });

  it('show their value once: where they are made', async () => {
    const { body: made } = await send('POST', keys());
    const seen = [
      await send('GET', keys()),
      await send('GET', keys(`/${made.id}`)),
      await send('GET', `/applications/${application.id}`),
      await send('GET', '/applications'),
      await send('GET', '/logs'),
    ];
    for (const { body } of seen) expect(JSON.stringify(body)).not.to.include(made.key);
    const { key: _, ...shown } = made as Record<string, unknown>;
    expect(seen[1]!.body).to.deep.equal(shown);
  });

  it('tell when they stop working, where their declaration says so', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const key = { id: randomUUID(), digest: digestOfKey(randomUUID()), expiresAt };
    const { id, tenantId } = await vault.application({ declaration: { keys: [key] }, tenantId: manager.tenantId });
    const { body } = await send('GET', `/applications/${id}/keys/${key.id}`);
    expect(body).to.include({ id: key.id, tenant_id: tenantId, expires_at: expiresAt });
    expect((await send('GET', `/applications/${id}/keys`)).body.data).to.deep.equal([body]);
  });

  it('are in no column of the database, save as a SHA-256', async () => {
    const { body: made } = await send('POST', keys());
    const tables = await vault.database.run<{ name: string }>({
      text: `select tablename as name from pg_tables where schemaname = 'public'`,
    });
    const secret = (made.key as string).split('_').at(-1)!;
    const holders: string[] = [];
    for (const { name } of tables) {
      const rows = await vault.database.run<{ row: string }>({ text: `select t::text as row from "${name}" t` });
      const text = rows.map(({ row }) => row).join('\n');
      expect(text, name).not.to.include(secret);
      expect(text, name).not.to.include(Buffer.from(secret).toString('hex'));
      if (text.includes(digestOfKey(made.key as string))) holders.push(name);
    }
    expect(holders).to.deep.equal(['application_keys']);
  });

  it('are at most three; a fourth works once one has gone', async () => {
    await send('POST', keys());
    const { body: third } = await send('POST', keys());
    const fourth = await send('POST', keys());
    expect(fourth.status).to.equal(422);
    expect(fourth.body.detail).to.include('at most 3 keys');
    expect((await send('DELETE', keys(`/${third.id}`))).status).to.equal(204);
    expect((await send('POST', keys())).status).to.equal(201);
  });

  it('stay at most three where many are made at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => send('POST', keys())));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(2);
    expect((await send('GET', keys())).body.pagination.total_items).to.equal(3);
  });

  it('are listed by page, newest first', async () => {
    const { body: made } = await send('POST', keys());
    const { body } = await send('GET', keys('?size=1'));
    expect(body.pagination).to.deep.equal({ total_items: 2, page_number: 1, page_size: 1, total_pages: 2 });
    expect(body.data[0].id).to.equal(made.id);
    expect((await send('GET', keys('?size=1&page=2'))).body.data[0].id).to.equal(application.keys[0]!.id);
  });

  it('stop at once when they are deleted, and the others go on', async () => {
    const { body: made } = await send('POST', keys());
    expect(await use(made.key)).to.equal(200);
    const { status, body } = await send('DELETE', keys(`/${made.id}`));
    expect([status, body]).to.deep.equal([204, undefined]);
    expect(await use(made.key)).to.equal(401);
    expect(await use(application.key)).to.equal(200);
    expect((await send('DELETE', keys(`/${made.id}`))).status).to.equal(404);
  });

  for (const id of [randomUUID(), 'no-uuid']) {
    it(`are not found under ${id === 'no-uuid' ? 'what is no id' : 'an unknown id'}`, async () => {
      expect((await send('GET', keys(`/${id}`))).status).to.equal(404);
      expect((await send('DELETE', keys(`/${id}`))).status).to.equal(404);
    });
  }

  it('are not found under another application', async () => {
    const { body: other } = await send('POST', '/applications', {
      ...{ name: 'Other', type: 'private', permissions: ['token:read'] },
    });
    const foreign = `/applications/${other.id}/keys/${application.keys[0]!.id}`;
    expect((await send('GET', foreign)).status).to.equal(404);
    expect((await send('DELETE', foreign)).status).to.equal(404);
    expect(await use(application.key)).to.equal(200);
  });
});
