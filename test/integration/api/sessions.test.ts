import { expect } from 'chai';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('sessions', () => {
  let vault: TestVault;
  let browser: TestApplication;
  let backend: TestApplication;
  let manager: TestApplication;
  let token: string;

  before(async () => {
    vault = await startTestVault();
    browser = await vault.application({ type: 'public' });
    manager = await vault.application({ type: 'management' });
    backend = await vault.application({
      rules: [
        {
          ...{ priority: 1, container: '/pci/', transform: 'reveal' },
          permissions: ['token:create', 'token:read', 'token:use'],
        },
      ],
    });
    token = await store('/pci/high/');
  });
  after(() => vault.stop());

  async function store(container: string, key = backend.key): Promise<string> {
    const body = { type: 'token', data: 'secret', containers: [container] };
    return (await vault.request('POST', '/tokens', { key, body })).body.id as string;
  }

  async function create(key = browser.key): Promise<{ session_key: string; nonce: string; expires_at: string }> {
    const { status, body } = await vault.request('POST', '/sessions', { key });
    expect(status).to.equal(201);
    return body;
  }

  const authorize = (nonce: string, grant: object, key = backend.key): Promise<Answer> =>
    vault.request('POST', '/sessions/authorize', { key, body: { nonce, ...grant } });
  const readOne = (id = token) => ({
    rules: [
      {
        ...{ priority: 1, transform: 'reveal', permissions: ['token:read'] },
        conditions: [{ attribute: 'id', operator: 'equals', value: id }, IN_PCI],
      },
    ],
  });
  const IN_PCI = { attribute: 'container', operator: 'starts_with', value: '/pci/' };
  const read = (key: string, id = token) => vault.request('GET', `/tokens/${id}`, { key });

  describe('created', () => {
    it('has a key, a nonce and three minutes', async () => {
      const { session_key: key, nonce, expires_at: end } = await create();
      expect(key).to.match(/^key_prod_ses_[0-9A-Za-z]{49}$/);
      expect(nonce).to.match(/^[\w-]{43}$/);
      expect(Date.parse(end) - Date.now()).to.be.within(170_000, 180_000);
    });

    it('may do nothing yet', async () => {
      const { session_key: key } = await create();
      expect((await read(key)).status).to.equal(403);
      expect((await vault.request('POST', '/tokens', { key, body: { type: 'token', data: 1 } })).status).to.equal(403);
    });

    it('is in the database as digests only', async () => {
      const { session_key: key, nonce } = await create();
      const rows = await vault.database.run({ text: 'select s::text as row from sessions s' });
      expect(JSON.stringify(rows)).to.not.include(key).and.not.include(nonce);
    });

    it('is given to nobody again: all browsers have the one application, and so its idempotency keys', async () => {
      const headers = { 'svc-idempotency-key': 'order-1' };
      const make = () => vault.request('POST', '/sessions', { key: browser.key, headers });
      const [mine, theirs] = [await make(), await make()];
      expect([mine.status, theirs.status]).to.deep.equal([201, 201]);
      expect(theirs.body.session_key).to.not.equal(mine.body.session_key);
      expect(theirs.body.nonce).to.not.equal(mine.body.nonce);
    });

    for (const type of ['private', 'management'] as const) {
      it(`is refused to a ${type} application`, async () => {
        const { key } = type === 'private' ? backend : manager;
        expect((await vault.request('POST', '/sessions', { key })).status).to.equal(403);
      });
    }

    it('is refused to a session and to no key', async () => {
      const { session_key: key, nonce } = await create();
      await authorize(nonce, readOne());
      expect((await vault.request('POST', '/sessions', { key })).status).to.equal(403);
      expect((await vault.request('POST', '/sessions')).status).to.equal(401);
    });
  });

  describe('authorized', () => {
    it('does what it was granted, and nothing else', async () => {
      const { session_key: key, nonce } = await create();
      const other = await store('/pci/high/');
      const authorized = await authorize(nonce, readOne());
      expect([authorized.status, authorized.body]).to.deep.equal([200, undefined]);
      expect((await read(key)).body).to.include({ id: token, data: 'secret' });
      expect((await read(key, other)).status).to.equal(403);
      const { body: list } = await vault.request('GET', '/tokens', { key });
      expect((list.data as { id: string }[]).map(({ id }) => id)).to.deep.equal([token]);
      expect(list.pagination.total_items).to.equal(1);
      expect((await vault.request('DELETE', `/tokens/${token}`, { key })).status).to.equal(403);
    });

    it('creates tokens in the name of the public application', async () => {
      const { session_key: key, nonce } = await create();
      await authorize(nonce, {
        rules: [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:create'] }],
      });
      const body = { type: 'token', data: 'x', containers: ['/pci/high/'] };
      const created = await vault.request('POST', '/tokens', { key, body });
      expect(created.status).to.equal(201);
      expect(created.body.created_by).to.equal(browser.id);
    });

    it('has plain permissions where the authorizer has them', async () => {
      const plain = await vault.application({ permissions: ['token:read'] });
      const { session_key: key, nonce } = await create();
      expect((await authorize(nonce, { permissions: ['token:read'] }, plain.key)).status).to.equal(200);
      expect((await read(key)).status).to.equal(200);
      expect((await read(key)).body).to.not.have.property('data');
    });

    it('takes a nonce once, however many use it at the same time', async () => {
      const { nonce } = await create();
      const answers = await Promise.all(Array.from({ length: 8 }, () => authorize(nonce, readOne())));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409, 409, 409, 409]);
      expect((await authorize(nonce, readOne())).status).to.equal(409);
    });

    it('is so again to whoever repeats it with its idempotency key: the nonce is not used twice', async () => {
      const { nonce } = await create();
      const again = () =>
        vault.request('POST', '/sessions/authorize', {
          ...{ key: backend.key, headers: { 'svc-idempotency-key': nonce } },
          body: { nonce, ...readOne() },
        });
      const statuses = [(await again()).status, (await again()).status, (await authorize(nonce, readOne())).status];
      expect(statuses).to.deep.equal([200, 200, 409]);
    });

    it('answers the nonce of another tenant and an expired one as an unknown one', async () => {
      const elsewhere = await vault.application({ type: 'public', tenantId: await vault.tenant() });
      const { nonce: foreign } = await create(elsewhere.key);
      const { nonce: expired } = await create();
      await vault.database.run({ text: 'update sessions set expires_at = now() where tenant_id = $1' }, [
        browser.tenantId,
      ]);
      const answers = await Promise.all([foreign, expired, 'unknown'].map((nonce) => authorize(nonce, readOne())));
      expect(answers.map(({ status, body }) => `${status} ${body.detail}`)).to.deep.equal(
        Array(3).fill('404 There is no session with this nonce.'),
      );
    });

    it('is refused to other applications and to sessions', async () => {
      const { session_key: key, nonce } = await create();
      for (const other of [browser.key, manager.key, key]) {
        expect((await authorize(nonce, readOne(), other)).status).to.equal(403);
      }
      await authorize(nonce, readOne());
      const { nonce: next } = await create();
      expect((await authorize(next, readOne(), key)).status).to.equal(403);
    });

    it('refuses more than the authorizer has, naming each grant, and leaves the nonce good', async () => {
      const { session_key: key, nonce } = await create();
      const { rules } = readOne();
      const refused = await authorize(nonce, {
        permissions: ['token:read'],
        rules: [
          { ...rules[0]!, priority: 2 },
          { priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:read', 'token:delete'] },
          { priority: 3, container: '/', transform: 'redact', permissions: ['token:create'] },
        ],
      });
      expect(refused.status).to.equal(403);
      expect(refused.body.errors).to.deep.equal({
        'permissions[0]': ['must not grant more of token:read than the application itself has'],
        'rules[1]': ['must not grant more of token:delete than the application itself has'],
        'rules[2]': ['must not grant more of token:create than the application itself has'],
      });
      expect((await read(key)).status).to.equal(403);
      expect((await authorize(nonce, readOne())).status).to.equal(200);
    });

    it('tells every fault of a request at once', async () => {
      const { nonce } = await create();
      const { status, body } = await authorize(nonce, {
        permissions: ['application:create'],
        rules: [
          { priority: 1, container: '/pci/', conditions: [IN_PCI], transform: 'mask', permissions: ['token:read'] },
          { priority: 1, container: 'nowhere', transform: 'mask', permissions: [] },
        ],
        expires_at: '2001-01-01',
      });
      expect(status).to.equal(400);
      expect(Object.keys(body.errors as object)).to.have.members([
        'permissions[0]',
        'rules[0]',
        'rules[1].container',
        'rules[1].permissions',
        'rules[1].priority',
        'expires_at',
      ]);
    });

    it('tells faults of its schema together with the others', async () => {
      const { body } = await vault.request('POST', '/sessions/authorize', {
        key: backend.key,
        body: { permissions: ['log:read'], expires_at: 'soon' },
      });
      expect(Object.keys(body.errors as object)).to.have.members(['nonce', 'permissions[0]', 'expires_at']);
    });

    it('refuses to grant nothing', async () => {
      const { nonce } = await create();
      expect((await authorize(nonce, {})).status).to.equal(400);
    });
  });

  it('writes who created, authorized and used a session', async () => {
    const { session_key: key, nonce } = await create();
    await authorize(nonce, readOne());
    await read(key);
    const logs = async (type: string, id?: string) => {
      const path = `/logs?entity_type=${type}${id === undefined ? '' : `&entity_id=${id}`}`;
      return (await vault.request('GET', path, { key: manager.key })).body.data as Record<string, string>[];
    };
    const authorized = (await logs('session')).find(({ operation }) => operation === 'authorize')!;
    expect(authorized).to.include({ actor_type: 'application', actor_id: backend.id });
    const ofSession = await logs('session', authorized['entity_id']);
    expect(ofSession.at(-1)).to.include({ operation: 'create', actor_type: 'application', actor_id: browser.id });
    const [used] = await logs('token', token);
    expect(used).to.include({ operation: 'read', actor_type: 'session', actor_id: authorized['entity_id'] });
  });
});
