import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { digestOfKey, generateApplicationKey } from '../../../src/domain/application-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

describe('authentication over the API', () => {
  let vault: TestVault;
  let contract: Contract;

  before(async () => {
    vault = await startTestVault();
    contract = await readContract(vault);
  });
  after(() => vault.stop());

  async function expiredKey(): Promise<string> {
    const key = generateApplicationKey('production', 'private');
    const expiresAt = new Date(Date.now() - 60_000).toISOString();
    await vault.application({
      declaration: { keys: [{ id: randomUUID(), digest: digestOfKey(key), expiresAt }] },
    });
    return key;
  }

  async function deletedKey(): Promise<string> {
    const { id, key, tenantId } = await vault.application();
    await vault.internal('DELETE', `/tenants/${tenantId}/applications/${id}`);
    return key;
  }

  const good = generateApplicationKey('production', 'private');
  const BAD_KEYS: readonly [what: string, key: () => Promise<string | undefined>][] = [
    ['missing', async () => undefined],
    ['malformed', async () => 'key_prod_pvt_short'],
    ['with a wrong checksum', async () => `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`],
    ['unknown', async () => good],
    ['an unknown legacy key', async () => 'key_NfdSHP8hjEfBYgxMU2wqZ9'],
    ['expired', expiredKey],
    ['deleted', deletedKey],
    ['of 300 characters', async () => 'k'.repeat(300)],
  ];

  for (const [what, makeKey] of BAD_KEYS) {
    it(`refuses a key that is ${what} in the one way`, async () => {
      const answer = await contract.request('GET', '/tokens', { key: await makeKey() });
      expect(answer.status).to.equal(401);
      expect(answer.headers.get('www-authenticate')).to.equal('ApiKey');
      expect(answer.headers.get('content-type')).to.equal('application/problem+json');
      expect({ ...answer.body, instance: undefined }).to.deep.equal({
        ...{ type: 'about:blank', title: 'Unauthorized', status: 401, detail: 'A valid API key is required.' },
        instance: undefined,
      });
    });
  }

  it('refuses before it looks at the body', async () => {
    const { status } = await vault.request('POST', '/tokens', { rawBody: 'no json' });
    expect(status).to.equal(401);
  });

  it('takes a legacy key that was brought from elsewhere', async () => {
    const key = 'key_NfdSHP8hjEfBYgxMU2wqZ8';
    await vault.application({ declaration: { keys: [{ id: randomUUID(), digest: digestOfKey(key) }] } });
    expect((await contract.request('GET', '/tokens', { key })).status).to.equal(200);
  });

  it('lets a key end at the second that it expires', async () => {
    const key = generateApplicationKey('production', 'private');
    const expiresAt = Date.now() + 1_000;
    await vault.application({
      declaration: {
        keys: [{ id: randomUUID(), digest: digestOfKey(key), expiresAt: new Date(expiresAt).toISOString() }],
      },
    });
    const status = async () => (await vault.request('GET', '/tokens', { key })).status;
    expect(await status()).to.equal(200);
    await eventually(async () => expect(await status()).to.equal(401));
    expect(Date.now()).to.be.within(expiresAt, expiresAt + 1_000);
  });

  it('refuses what an application may not do, naming the permission', async () => {
    const { key } = await vault.application({ type: 'public' });
    const answer = await contract.request('GET', '/logs', { key });
    expect(answer.status).to.equal(403);
    expect(answer.body).to.include({ title: 'Forbidden' }).and.not.to.have.property('errors');
    expect(answer.body.detail).to.include('log:read');
  });

  it('lets a rule grant what permissions do not', async () => {
    const rules = [{ priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] }] as const;
    const { key } = await vault.application({
      rules: rules.map((rule) => ({ ...rule, permissions: ['token:read'] })),
      permissions: [],
    });
    expect((await contract.request('GET', '/tokens', { key })).status).to.equal(200);
    expect((await contract.request('POST', '/tokens', { key, body: {} })).status).to.equal(403);
  });

  describe('headers', () => {
    const get = (headers: Record<string, string>) => vault.request('GET', '/applications/key', { headers });
    let key: string;

    before(async () => {
      ({ key } = await vault.application({ type: 'management' }));
    });

    for (const prefix of ['SVC', 'BT']) {
      it(`are taken under ${prefix}, and answered under it`, async () => {
        const { status, headers } = await get({ [`${prefix}-API-KEY`]: key, [`${prefix}-TRACE-ID`]: 'trace_1-A' });
        expect(status).to.equal(200);
        expect(headers.get(`${prefix}-TRACE-ID`)).to.equal('trace_1-A');
        expect(headers.has(prefix === 'SVC' ? 'BT-TRACE-ID' : 'SVC-TRACE-ID')).to.equal(false);
      });
    }

    it('go by the first prefix where a request uses both', async () => {
      const { status, headers } = await get({ 'SVC-API-KEY': key, 'BT-API-KEY': 'other', 'BT-TRACE-ID': 'mine' });
      expect([status, headers.get('svc-trace-id')]).to.deep.equal([200, 'mine']);
    });

    it('carry a trace id where none was sent, which problems name', async () => {
      const { headers, body } = await get({});
      expect(headers.get('svc-trace-id')).to.match(/^[A-Za-z0-9_-]{1,64}$/);
      expect(body.instance).to.equal(headers.get('svc-trace-id'));
    });

    for (const [what, trace] of [
      ['of 64 characters', 'x'.repeat(64)],
      ['of 65 characters', 'x'.repeat(65)],
      ['with a space', 'a b'],
      ['with a letter of another alphabet', 'é'],
    ] as const) {
      it(`${what === 'of 64 characters' ? 'keep' : 'replace'} a trace id ${what}`, async () => {
        const { headers } = await get({ 'SVC-TRACE-ID': trace });
        expect(headers.get('svc-trace-id') === trace).to.equal(what === 'of 64 characters');
        expect(headers.get('svc-trace-id')).to.match(/^[A-Za-z0-9_-]{1,64}$/);
      });
    }
  });

  describe('paths and methods', () => {
    it('that there are not are problems', async () => {
      for (const path of ['/', '/nothing', '/tokens/a/b', '/internal/reactors', '/v2']) {
        const { status, headers, body } = await vault.request('GET', path);
        expect(status, path).to.equal(404);
        expect(headers.get('content-type')).to.equal('application/problem+json');
        expect(body).to.include({ title: 'Not Found', status: 404 });
      }
    });

    for (const [method, path, allow] of [
      ['PUT', '/tokens', 'GET, HEAD, POST'],
      ['PATCH', '/applications/x', 'DELETE, GET, HEAD, PUT'],
      ['POST', '/healthz', 'GET, HEAD'],
      ['OPTIONS', '/tokens', 'GET, HEAD, POST'],
    ] as const) {
      it(`refuse ${method} ${path} and name what they take`, async () => {
        const { status, headers, body } = await vault.request(method, path);
        expect([status, headers.get('allow')]).to.deep.equal([405, allow]);
        expect(body).to.include({ title: 'Method Not Allowed', status: 405 });
      });
    }
  });
});
