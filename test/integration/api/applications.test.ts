import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createSweeper } from '../../../src/services/sweeper.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const RULE = { priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] };

describe('applications over the API', () => {
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
  });
  after(() => vault.stop());
  beforeEach(async () => {
    manager = await vault.application({ type: 'management', tenantId: await vault.tenant() });
  });

  const send = (method: string, path: string, body?: object) =>
    contract.request(method, path, { key: manager.key, ...(body ? { body } : {}) });

  async function create(overrides: object = {}) {
    const { body } = await send('POST', '/applications', {
      ...{ name: 'Checkout', type: 'private', permissions: ['token:create'] },
      ...overrides,
    });
    return body as { id: string; key: string; keys: { id: string }[]; expires_at?: string };
  }

  describe('creating one', () => {
    it('answers it with a first key that works at once', async () => {
      const { status, headers, body } = await send('POST', '/applications', {
        ...{ name: 'Checkout', type: 'private', permissions: ['token:create'], rules: [RULE] },
      });
      expect(status).to.equal(201);
      expect(headers.get('location')).to.equal(`/applications/${body.id}`);
      expect(body).to.deep.include({
        ...{ tenant_id: manager.tenantId, name: 'Checkout', type: 'private', created_by: manager.id },
        ...{ permissions: ['token:create'], rules: [RULE] },
      });
      expect(body.key).to.match(/^key_prod_pvt_/);
      expect(body.keys).to.have.length(1);
      expect(body).not.to.have.any.keys('expires_at', 'modified_at', 'modified_by');
      const used = await vault.request('POST', '/tokens', { key: body.key, body: { type: 'token', data: 1 } });
      expect(used.status).to.equal(201);
    });

    it('keeps the conditions of its rules', async () => {
      const conditions = [{ attribute: 'id', operator: 'starts_with', value: 'order-' }];
      const rule = { description: 'Orders', priority: 1, conditions, transform: 'mask', permissions: ['token:read'] };
      const { id } = await create({ permissions: [], rules: [rule] });
      expect((await send('GET', `/applications/${id}`)).body.rules).to.deep.equal([rule]);
    });

    it('makes no key where none is wanted', async () => {
      const { status, body } = await send('POST', '/applications', {
        ...{ name: 'Later', type: 'public', permissions: ['token:create'], create_key: false },
      });
      expect(status).to.equal(201);
      expect(body).not.to.have.property('key');
      expect(body.keys).to.deep.equal([]);
    });

    it('stores rules in the order in which they are tried', async () => {
      const rules = [
        { ...RULE, priority: 5 },
        { ...RULE, priority: 2, container: '/PII/' },
      ];
      const { body } = await send('POST', '/applications', { name: 'x', type: 'private', rules });
      expect(body.rules.map((rule: { container: string }) => rule.container)).to.deep.equal(['/pii/', '/pci/']);
    });

    it('takes a name of 200 characters', async () => {
      expect(await create({ name: 'n'.repeat(200) })).to.have.property('name', 'n'.repeat(200));
    });

    for (const [what, overrides, path] of [
      ['without a name', { name: undefined }, 'name'],
      ['with an empty name', { name: '' }, 'name'],
      ['with a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
      ['with an unknown type', { type: 'super' }, 'type'],
      ['without any access', { permissions: [] }, 'permissions'],
      ['with an unknown permission', { permissions: ['token:steal'] }, 'permissions[0]'],
      ['with the permission of another type', { permissions: ['log:read'] }, 'permissions[0]'],
      ['with a rule without a transform', { rules: [{ ...RULE, transform: undefined }] }, 'rules[0].transform'],
      ['with an unknown transform', { rules: [{ ...RULE, transform: 'show' }] }, 'rules[0].transform'],
      ['with a rule of priority 0', { rules: [{ ...RULE, priority: 0 }] }, 'rules[0].priority'],
      ['with two rules of one priority', { rules: [RULE, RULE] }, 'rules[1].priority'],
      ['with a rule that has no scope', { rules: [{ ...RULE, container: undefined }] }, 'rules[0]'],
      ['with a rule in a bad container', { rules: [{ ...RULE, container: 'pci' }] }, 'rules[0].container'],
      ['with an expiry that is no date', { expires_at: 'tomorrow' }, 'expires_at'],
      ['with an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      ['with a flag that is a text', { create_key: 'false' }, 'create_key'],
    ] as const) {
      it(`is refused ${what}, under ${path}, and stores nothing`, async () => {
        const { status, body } = await send('POST', '/applications', {
          ...{ name: 'Checkout', type: 'private', permissions: ['token:create'] },
          ...overrides,
        });
        expect(status).to.equal(400);
        expect(body).to.have.property('title', 'One or more validation errors occurred.');
        expect(body.errors).to.have.property(path);
        expect((await send('GET', '/applications')).body.pagination.total_items).to.equal(1);
      });
    }

    it('is told every fault at once', async () => {
      const { body } = await send('POST', '/applications', {
        ...{ name: 'n'.repeat(201), type: 'x', permissions: ['nope'], rules: [{ priority: 'first' }] },
      });
      expect(body.errors).to.include.keys('name', 'type', 'permissions[0]', 'rules[0].priority', 'rules[0].transform');
    });

    it('is told what its schema says together with what it does not', async () => {
      const { body } = await send('POST', '/applications', {
        ...{ name: '', type: 'private', permissions: ['log:read'], rules: [RULE, RULE], expires_at: 'soon' },
      });
      expect(body.errors).to.have.all.keys('name', 'permissions[0]', 'rules[1].priority', 'expires_at');
      const faulty = await send('POST', '/applications', { name: '', type: 'private', permissions: [1] });
      expect(faulty.body.errors).to.have.all.keys('name', 'permissions[0]');
    });

    it('gives a management application no rules', async () => {
      const { status, body } = await send('POST', '/applications', {
        ...{ name: 'x', type: 'management', permissions: ['log:read'], rules: [RULE] },
      });
      expect([status, Object.keys(body.errors)]).to.deep.equal([400, ['rules']]);
    });
  });

  describe('reading them', () => {
    it('shows one, without the value of its key', async () => {
      const { id, keys } = await create();
      const { status, body } = await send('GET', `/applications/${id}`);
      expect(status).to.equal(200);
      expect(body).to.include({ id, name: 'Checkout' }).and.not.to.have.property('key');
      expect(body.keys).to.deep.equal(keys);
    });

    it('shows the one that owns the key of the request', async () => {
      const { status, body } = await send('GET', '/applications/key');
      expect([status, body.id]).to.deep.equal([200, manager.id]);
    });

    it('lists them newest first, by page', async () => {
      const [first, second] = [await create(), await create()];
      const { body } = await send('GET', '/applications?size=2');
      expect(body.pagination).to.deep.equal({ total_items: 3, page_number: 1, page_size: 2, total_pages: 2 });
      expect(new Set(body.data.map(({ id }: { id: string }) => id))).to.deep.equal(new Set([first.id, second.id]));
      const last = await send('GET', '/applications?size=2&page=2');
      expect(last.body.data.map(({ id }: { id: string }) => id)).to.deep.equal([manager.id]);
      expect((await send('GET', '/applications?page=3&size=2')).body.data).to.deep.equal([]);
    });

    it('lists those of a type, and those with certain ids', async () => {
      const [one, two] = [await create(), await create({ type: 'public' })];
      await create();
      const ids = async (query: string) =>
        (await send('GET', `/applications?${query}`)).body.data.map(({ id }: { id: string }) => id) as string[];
      expect(await ids('type=public')).to.deep.equal([two.id]);
      expect(await ids(`id=${one.id}&id=${two.id}`)).to.have.members([one.id, two.id]);
      expect(await ids(`id=${one.id}&type=public`)).to.deep.equal([]);
    });

    for (const query of [
      'size=0',
      'size=101',
      'page=0',
      'page=x',
      'type=super',
      'id=nope',
      `id=urn:uuid:${randomUUID()}`,
    ]) {
      it(`refuses the query ${query.replace(/uuid:.*/, 'uuid:…')}`, async () => {
        expect((await send('GET', `/applications?${query}`)).status).to.equal(400);
      });
    }
  });

  describe('replacing one', () => {
    it('puts name, permissions and rules; type, expiry and keys stay', async () => {
      const { id, key, expires_at } = await create({ expires_at: '2100-01-01T00:00:00Z' });
      const { status, body } = await send('PUT', `/applications/${id}`, { name: 'Renamed', rules: [RULE] });
      expect(status).to.equal(200);
      expect(body).to.deep.include({
        ...{ id, name: 'Renamed', type: 'private', permissions: [], rules: [RULE], expires_at },
        modified_by: manager.id,
      });
      const refused = await vault.request('POST', '/tokens', { key, body: { type: 'token', data: 1 } });
      expect(refused.status).to.equal(403);
    });

    it('checks access against the type that it has', async () => {
      const { id } = await create();
      const { status, body } = await send('PUT', `/applications/${id}`, { name: 'x', permissions: ['log:read'] });
      expect([status, Object.keys(body.errors)]).to.deep.equal([400, ['permissions[0]']]);
    });

    it('needs a name and some access', async () => {
      const { id } = await create();
      const { status, body } = await send('PUT', `/applications/${id}`, {});
      expect(status).to.equal(400);
      expect(body.errors).to.have.property('name');
      expect((await send('PUT', `/applications/${id}`, { name: 'x' })).status).to.equal(400);
    });
  });

  it('are deleted with their keys', async () => {
    const { id, key } = await create();
    const { status, body } = await send('DELETE', `/applications/${id}`);
    expect([status, body]).to.deep.equal([204, undefined]);
    expect((await vault.request('GET', '/tokens', { key })).status).to.equal(401);
    expect((await send('GET', `/applications/${id}`)).status).to.equal(404);
    expect((await send('DELETE', `/applications/${id}`)).status).to.equal(404);
  });

  it('end at the second that they expire, and are swept later', async () => {
    const expiresAt = Date.now() + 1_200;
    const { id, key } = await create({ expires_at: new Date(expiresAt).toISOString() });
    const use = () => vault.request('POST', '/tokens', { key, body: { type: 'token', data: 1 } });
    expect((await use()).status).to.equal(201);
    await eventually(async () => expect((await use()).status).to.equal(401));
    expect(Date.now()).to.be.within(expiresAt, expiresAt + 1_000);
    expect((await send('GET', `/applications/${id}`)).status).to.equal(404);

    await createSweeper({
      ...{ database: vault.maintenance, logger: silentLogger, metrics: createMetrics() },
      dataKeys: { forget: () => undefined } as never,
      shredCvcKeys: async () => 0,
    }).sweep();
    const { body } = await contract.request('GET', `/logs?entity_id=${id}&entity_type=application`, {
      key: manager.key,
    });
    expect(body.data[0]).to.deep.include({ operation: 'expire', actor_type: 'system' });
  });

  it('are those of one tenant: others find none', async () => {
    const { id } = await create();
    const stranger = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    const attempts = [
      ['GET', ''],
      ['PUT', '', { name: 'x', permissions: ['token:create'] }],
      ['DELETE', ''],
      ['GET', '/keys'],
      ['POST', '/keys'],
    ] as const;
    for (const [method, path, body] of attempts) {
      const options = { key: stranger.key, ...(body ? { body } : {}) };
      const foreign = await contract.request(method, `/applications/${id}${path}`, options);
      const unknown = await contract.request(method, `/applications/${randomUUID()}${path}`, options);
      const malformed = await contract.request(method, `/applications/no-uuid${path}`, options);
      expect(foreign.status, `${method} ${path}`).to.equal(404);
      expect({ ...foreign.body, instance: '' }).to.deep.equal({ ...unknown.body, instance: '' });
      expect(malformed.status).to.equal(404);
    }
    expect((await send('GET', `/applications/${id}`)).status).to.equal(200);
  });
});
