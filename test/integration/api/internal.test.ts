import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { digestOfKey, generateApplicationKey } from '../../../src/domain/application-keys.ts';
import { DEFAULT_SCALING, REACTOR_DEFAULTS, type DeclarationChange } from '../../../src/domain/declarations.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../../src/domain/tenants.ts';
import { createInternalClient } from '../../../src/operator/internal-client.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const TENANT = { name: 'shop', type: 'production', quotas: DEFAULT_QUOTAS, settings: DEFAULT_SETTINGS };
const APPLICATION = { name: 'Checkout', type: 'private', permissions: ['token:read'], rules: [], keys: [] };
const REACTOR = {
  ...{ name: 'Echo', code: 'module.exports = () => ({});', configuration: { A: '1' } },
  ...{ scaling: DEFAULT_SCALING, ...REACTOR_DEFAULTS },
};

describe('the internal API', () => {
  let vault: TestVault;
  let tenantId: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
  });

  const applicationPath = (id: string) => `/tenants/${tenantId}/applications/${id}`;
  const reactorPath = (id: string) => `/tenants/${tenantId}/reactors/${id}`;

  function newKey(): { value: string; declared: { id: string; digest: string } } {
    const value = generateApplicationKey('production', 'private');
    return { value, declared: { id: randomUUID(), digest: digestOfKey(value) } };
  }

  const use = async (key: string) => (await vault.request('GET', '/tokens', { key })).status;

  it('refuses everybody without its token', async () => {
    const bad = [undefined, 'Bearer ', 'Bearer nope', vault.internalToken, `bearer ${vault.internalToken}x`];
    for (const authorization of bad) {
      for (const path of ['/internal/reactors', '/internal/changes', '/internal/nothing', '/']) {
        const headers = authorization === undefined ? {} : { authorization };
        const { status } = await fetch(vault.internalUrl + path, { headers });
        expect(status, `${authorization} ${path}`).to.equal(401);
      }
    }
  });

  it('takes each declaration again without a change', async () => {
    const [application, reactor] = [applicationPath(randomUUID()), reactorPath(randomUUID())];
    for (const [path, body] of [
      [`/tenants/${randomUUID()}`, TENANT],
      [application, { ...APPLICATION, keys: [newKey().declared] }],
      [reactor, REACTOR],
    ] as const) {
      expect((await vault.internal('PUT', path, body)).body, path).to.deep.equal({ changed: true });
      expect((await vault.internal('PUT', path, body)).body, path).to.deep.equal({ changed: false });
    }
  });

  it('puts back what was changed through the public API', async () => {
    const manager = await vault.application({ type: 'management', tenantId });
    const [application, reactor] = [randomUUID(), randomUUID()];
    await vault.internal('PUT', applicationPath(application), APPLICATION);
    await vault.internal('PUT', reactorPath(reactor), REACTOR);
    const { key } = manager;
    await vault.request('PUT', `/applications/${application}`, {
      key,
      body: { name: 'x', permissions: ['token:use'] },
    });
    await vault.request('PATCH', `/reactors/${reactor}`, { key, body: { configuration: { A: '2' } } });

    expect((await vault.internal('PUT', applicationPath(application), APPLICATION)).body.changed).to.equal(true);
    expect((await vault.internal('PUT', reactorPath(reactor), REACTOR)).body.changed).to.equal(true);
    const shown = await vault.request('GET', `/applications/${application}`, { key });
    expect(shown.body).to.deep.include({ name: 'Checkout', permissions: ['token:read'] });
    expect((await vault.request('GET', `/reactors/${reactor}`, { key })).body.configuration).to.deep.equal({ A: '1' });
  });

  it('lets keys in by their digests, and revokes what a declaration leaves out', async () => {
    const path = applicationPath(randomUUID());
    const [old, young] = [newKey(), newKey()];
    await vault.internal('PUT', path, { ...APPLICATION, keys: [old.declared] });
    expect(await use(old.value)).to.equal(200);
    await vault.internal('PUT', path, { ...APPLICATION, keys: [old.declared, young.declared] });
    expect([await use(old.value), await use(young.value)]).to.deep.equal([200, 200]);
    await vault.internal('PUT', path, { ...APPLICATION, keys: [young.declared] });
    expect([await use(old.value), await use(young.value)]).to.deep.equal([401, 200]);
  });

  it('leaves keys that were made through the public API', async () => {
    const manager = await vault.application({ type: 'management', tenantId });
    const id = randomUUID();
    await vault.internal('PUT', applicationPath(id), APPLICATION);
    const { body } = await vault.request('POST', `/applications/${id}/keys`, { key: manager.key });
    expect((await vault.internal('PUT', applicationPath(id), APPLICATION)).body.changed).to.equal(false);
    expect(await use(body.key as string)).to.equal(200);
  });

  it('revokes the declared keys of an application, which another one of any tenant may have then', async () => {
    const [former, next] = [
      applicationPath(randomUUID()),
      `/tenants/${await vault.tenant()}/applications/${randomUUID()}`,
    ];
    const { value, declared } = newKey();
    const moved = { ...APPLICATION, keys: [{ ...declared, id: randomUUID() }] };
    const manager = await vault.application({ type: 'management', tenantId });
    await vault.internal('PUT', former, { ...APPLICATION, keys: [declared] });
    const { body } = await vault.request('POST', `/applications/${former.split('/').at(-1)}/keys`, {
      key: manager.key,
    });
    expect((await vault.internal('PUT', next, moved)).status).to.equal(400);

    for (let times = 0; times < 2; times++) {
      expect((await vault.internal('DELETE', `${former}/keys`)).status).to.equal(204);
      expect([await use(value), await use(body.key as string)]).to.deep.equal([401, 200]);
    }
    expect((await vault.internal('PUT', next, moved)).body).to.deep.equal({ changed: true });
    expect(await use(value)).to.equal(200);
    const shown = await vault.request('GET', former.replace(`/tenants/${tenantId}`, ''), { key: manager.key });
    expect(shown.body).to.include({ name: 'Checkout' });
  });

  it('revokes nothing of an application that there is not, or that another tenant has', async () => {
    const id = randomUUID();
    const { value, declared } = newKey();
    await vault.internal('PUT', applicationPath(id), { ...APPLICATION, keys: [declared] });
    for (const path of [
      `/tenants/${await vault.tenant()}/applications/${id}/keys`,
      `${applicationPath(randomUUID())}/keys`,
    ]) {
      expect((await vault.internal('DELETE', path)).status, path).to.equal(204);
    }
    expect((await vault.internal('DELETE', `${applicationPath('shop')}/keys`)).status).to.equal(404);
    expect(await use(value)).to.equal(200);
  });

  it('refuses a key that another application has, naming the field', async () => {
    const { declared } = newKey();
    await vault.internal('PUT', applicationPath(randomUUID()), { ...APPLICATION, keys: [declared] });
    const { status, body } = await vault.internal('PUT', applicationPath(randomUUID()), {
      ...APPLICATION,
      keys: [{ ...declared, id: randomUUID() }],
    });
    expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, ['keys']]);
  });

  for (const [what, overrides, path] of [
    ['an expiry that is no date', { expiresAt: 'soon' }, 'expiresAt'],
    [
      'a key whose expiry is no date',
      { keys: [{ id: randomUUID(), digest: 'a'.repeat(64), expiresAt: 'soon' }] },
      'keys[0].expiresAt',
    ],
    ['a key in the place of its digest', { keys: [{ id: randomUUID(), digest: 'key_prod_pvt_x' }] }, 'keys[0].digest'],
    ['a permission of another type', { permissions: ['log:read'] }, 'permissions[0]'],
    [
      'a condition on an unknown attribute',
      {
        rules: [
          {
            ...{ priority: 1, transform: 'mask', permissions: ['token:read'] },
            conditions: [{ attribute: 'owner', operator: 'equals', value: 'x' }],
          },
        ],
      },
      'rules[0].conditions[0].attribute',
    ],
  ] as const) {
    it(`refuses an application with ${what}`, async () => {
      const { status, body } = await vault.internal('PUT', applicationPath(randomUUID()), {
        ...APPLICATION,
        ...overrides,
      });
      expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, [path]]);
    });
  }

  it('refuses a reactor whose code does not compile, and one of an unknown application', async () => {
    const path = reactorPath(randomUUID());
    expect((await vault.internal('PUT', path, { ...REACTOR, code: '{' })).status).to.equal(422);
    const { status, body } = await vault.internal('PUT', path, { ...REACTOR, applicationId: randomUUID() });
    expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, ['application.id']]);
  });

  it('does not find tenants that there are not, nor what cannot be an id', async () => {
    const nowhere = `/tenants/${randomUUID()}`;
    expect((await vault.internal('PUT', `${nowhere}/applications/${randomUUID()}`, APPLICATION)).status).to.equal(404);
    expect((await vault.internal('PUT', `${nowhere}/reactors/${randomUUID()}`, REACTOR)).status).to.equal(404);
    expect((await vault.internal('PUT', '/tenants/shop', TENANT)).status).to.equal(404);
    expect((await vault.internal('DELETE', applicationPath('shop'))).status).to.equal(404);
    expect((await vault.internal('POST', '/reactors', {})).status).to.equal(405);
  });

  it('deletes again and again', async () => {
    const id = randomUUID();
    await vault.internal('PUT', applicationPath(id), APPLICATION);
    for (const path of [applicationPath(id), reactorPath(id), `/tenants/${tenantId}`]) {
      expect((await vault.internal('DELETE', path)).status).to.equal(204);
      expect((await vault.internal('DELETE', path)).status).to.equal(204);
    }
  });

  it('stops the keys of a deleted application and of a deleted tenant', async () => {
    const [one, two] = [await vault.application({ tenantId }), await vault.application({ tenantId })];
    expect([await use(one.key), await use(two.key)]).to.deep.equal([200, 200]);
    await vault.internal('DELETE', applicationPath(one.id));
    expect([await use(one.key), await use(two.key)]).to.deep.equal([401, 200]);
    await vault.internal('DELETE', `/tenants/${tenantId}`);
    expect(await use(two.key)).to.equal(401);
  });

  it('lists every reactor as its instances need it', async () => {
    const id = randomUUID();
    await vault.internal('PUT', reactorPath(id), REACTOR);
    const { body } = await vault.internal('GET', '/reactors');
    const listed = (body.data as { reactorId: string }[]).find(({ reactorId }) => reactorId === id);
    expect(listed).to.deep.include({ tenantId, ...REACTOR });
    expect(listed)
      .to.have.property('revision')
      .that.matches(/^[0-9a-f]{16}$/);
  });

  it('streams changes, beginning with a full look', async () => {
    const client = createInternalClient({ baseUrl: vault.internalUrl, token: vault.internalToken });
    const stopping = new AbortController();
    const seen: DeclarationChange[] = [];
    const following = (async () => {
      for await (const change of client.changes(stopping.signal)) seen.push(change);
    })().catch(() => undefined);
    // The tenant was put a moment ago: word of that may follow the first line.
    await eventually(() => expect(seen[0]).to.deep.equal({ kind: 'resync' }));

    const [application, reactor] = [randomUUID(), randomUUID()];
    await vault.internal('PUT', applicationPath(application), APPLICATION);
    await vault.internal('PUT', reactorPath(reactor), REACTOR);
    await vault.internal('DELETE', applicationPath(application));
    await vault.internal('DELETE', `/tenants/${tenantId}`);
    await eventually(() =>
      expect(seen).to.deep.include.members([
        { kind: 'application', tenantId, id: application },
        { kind: 'reactor', tenantId, id: reactor },
        { kind: 'tenant', tenantId, id: tenantId },
      ]),
    );
    stopping.abort();
    await following;
  });
});
