import { expect } from 'chai';
import { DEFAULT_QUOTAS, type Quotas } from '../../../src/domain/tenants.ts';
import { eventually } from '../../support/eventually.ts';
import { startReplica } from '../../support/replica.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

/** A change must be seen by every replica within this time. */
const SEEN_WITHIN_MS = 1_000;

const QUOTAS: Quotas = { ...DEFAULT_QUOTAS, tokenize: 7, rateLimit: { plan: 'Unlimited' } };

describe('the tenant of a key', () => {
  let vault: TestVault;
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let tenantId: string;
  let manager: TestApplication;
  let backend: TestApplication;

  before(async () => {
    vault = await startTestVault();
    replica = await startReplica(vault);
  });
  after(async () => {
    await replica.stop();
    await vault.stop();
  });
  beforeEach(async () => {
    tenantId = await vault.tenant({ name: 'acme', type: 'test', quotas: QUOTAS });
    manager = await vault.application({ type: 'management', tenantId });
    backend = await vault.application({ tenantId });
  });

  const get = () => vault.request('GET', '/tenants/self', { key: manager.key });
  const put = (body: object) => vault.request('PUT', '/tenants/self', { key: manager.key, body });
  async function createToken(body: object = {}, baseUrl = vault.baseUrl) {
    const response = await fetch(`${baseUrl}/tokens`, {
      method: 'POST',
      headers: { 'svc-api-key': backend.key, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'token', data: 'the same', ...body }),
    });
    return { status: response.status, body: (await response.json()) as { id: string; fingerprint?: string } };
  }

  it('is read with its type and its quotas', async () => {
    const { status, body } = await get();
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      id: tenantId,
      name: 'acme',
      type: 'test',
      settings: { deduplicate_tokens: 'false', fingerprint_tokens: 'true' },
      quotas: {
        ...{ rate_limit: 'Unlimited', tokenize: 7, detokenize: 5 },
        ...{ log_retention_seconds: 86_400, cvc_retention_seconds: 3_600 },
      },
    });
  });

  it('takes a name, and settings one by one, as texts or as booleans', async () => {
    expect((await put({ name: 'new' })).body).to.deep.include({
      name: 'new',
      settings: { deduplicate_tokens: 'false', fingerprint_tokens: 'true' },
    });
    await put({ name: 'new', settings: { deduplicate_tokens: 'true' } });
    const { body } = await put({ name: 'new', settings: { fingerprint_tokens: true } });
    expect(body.settings).to.deep.equal({ deduplicate_tokens: 'true', fingerprint_tokens: 'true' });
    expect((await get()).body).to.deep.equal(body);
  });

  it('keeps type and quotas, which are not its own to change', async () => {
    const { body: before } = await get();
    const { status, body } = await put({ ...before, type: 'production', quotas: { tokenize: 1000 } });
    expect(status).to.equal(200);
    expect(body).to.deep.equal(before);
  });

  it('refuses what is no name and no setting, all at once', async () => {
    const { status, body } = await put({ settings: { deduplicate_tokens: 'perhaps', disable_everything: 'true' } });
    expect(status).to.equal(400);
    expect(Object.keys(body.errors as object)).to.include.members(['name', 'settings.deduplicate_tokens']);
    const unknown = await put({ name: 'acme', settings: { disable_everything: 'true' } });
    expect([unknown.status, Object.keys(unknown.body.errors as object)]).to.deep.equal([
      400,
      ['settings.disable_everything'],
    ]);
    expect((await put({ name: 'x'.repeat(201) })).status).to.equal(400);
  });

  it('refuses to find duplicates without fingerprints, and changes nothing then', async () => {
    const { status, body } = await put({
      name: 'new',
      settings: { deduplicate_tokens: 'true', fingerprint_tokens: 'false' },
    });
    expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, ['settings.deduplicate_tokens']]);
    expect((await get()).body.name).to.equal('acme');
    await put({ name: 'acme', settings: { deduplicate_tokens: 'true' } });
    expect((await put({ name: 'acme', settings: { fingerprint_tokens: 'false' } })).status).to.equal(400);
  });

  it('keeps both of two changes made at once', async () => {
    await Promise.all([
      put({ name: 'acme', settings: { deduplicate_tokens: 'true' } }),
      put({ name: 'acme', settings: { fingerprint_tokens: 'true' } }),
      put({ name: 'acme' }),
    ]);
    expect((await get()).body.settings).to.deep.equal({ deduplicate_tokens: 'true', fingerprint_tokens: 'true' });
  });

  it('has its tokens deduplicated from then on, on every replica', async () => {
    const first = await createToken();
    expect((await createToken({}, replica.baseUrl)).status).to.equal(201);
    await put({ name: 'acme', settings: { deduplicate_tokens: 'true' } });
    await eventually(async () => expect((await createToken({}, replica.baseUrl)).status).to.equal(200), {
      deadlineMs: SEEN_WITHIN_MS,
    });
    expect((await createToken()).body.fingerprint).to.equal(first.body.fingerprint);
  });

  it('has tokens without fingerprints, if it wants none', async () => {
    const before = await createToken();
    await put({ name: 'acme', settings: { fingerprint_tokens: 'false' } });
    const after = await createToken();
    expect(after.body).to.not.have.property('fingerprint');
    // Without a fingerprint nothing says that it is a duplicate.
    expect((await createToken({ deduplicate_token: true })).status).to.equal(201);
    const rows = await vault.database.run<{ has: boolean }>(
      { text: 'select fingerprint is not null as has from tokens where token_id = any ($1) order by created_at' },
      [[before.body.id, after.body.id]],
    );
    expect(rows.map(({ has }) => has)).to.deep.equal([true, false]);
  });

  it('is changed and read by those who may, and no other tenant is', async () => {
    const reader = await vault.application({ type: 'management', tenantId, permissions: ['tenant:read'] });
    const body = { name: 'taken over' };
    expect((await vault.request('PUT', '/tenants/self', { key: reader.key, body })).status).to.equal(403);
    expect((await vault.request('GET', '/tenants/self', { key: backend.key })).status).to.equal(403);
    expect((await vault.request('GET', '/tenants/self')).status).to.equal(401);
    await put(body);
    const elsewhere = await vault.application({ type: 'management' });
    expect((await vault.request('GET', '/tenants/self', { key: elsewhere.key })).body.name).to.not.equal(body.name);
  });

  it('has who read and changed it in the log', async () => {
    await get();
    await put({ name: 'new' });
    const { body } = await vault.request('GET', '/logs?entity_type=tenant', { key: manager.key });
    const [changed, read] = body.data as Record<string, string>[];
    expect(changed).to.include({ operation: 'update', entity_id: tenantId, actor_id: manager.id });
    expect(read).to.include({ operation: 'read', entity_id: tenantId, actor_id: manager.id });
  });

  for (const path of ['owner', 'members', 'invitations', 'connections', 'reports']) {
    it(`has no ${path}`, async () => {
      expect((await vault.request('GET', `/tenants/self/${path}`, { key: manager.key })).status).to.equal(404);
    });
  }

  describe('reports its usage', () => {
    const report = (key = manager.key) => vault.request('GET', '/tenants/self/reports/usage', { key });

    it('as the tokens that it holds now', async () => {
      expect((await report()).body).to.deep.equal({ total_tokens: 0 });
      const { body } = await createToken();
      await createToken();
      await createToken({ expires_at: new Date(Date.now() + 400).toISOString() });
      expect((await report()).body).to.deep.equal({ total_tokens: 3 });
      await vault.request('DELETE', `/tokens/${body.id}`, { key: backend.key });
      await eventually(async () => expect((await report()).body).to.deep.equal({ total_tokens: 1 }));
    });

    it('to those who may read reports', async () => {
      const other = await vault.application({ type: 'management', tenantId, permissions: ['tenant:read'] });
      expect((await report(other.key)).status).to.equal(403);
    });
  });
});
