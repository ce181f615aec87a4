import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CARD = { type: 'card', data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 } };

describe('an idempotency key', () => {
  let vault: TestVault;
  let application: TestApplication;
  let manager: TestApplication;
  let key: string;

  before(async () => {
    vault = await startTestVault();
    application = await vault.application();
    manager = await vault.application({ type: 'management' });
  });
  after(() => vault.stop());
  beforeEach(() => {
    key = randomUUID();
  });

  const headers = (name = 'svc-idempotency-key') => ({ [name]: key });
  const post = (path: string, body: object | undefined, by = application) =>
    vault.request('POST', path, { key: by.key, headers: headers(), ...(body ? { body } : {}) });
  const countTokens = async (by = application) =>
    (await vault.request('GET', '/tokens?size=1', { key: by.key })).body.pagination.total_items as number;

  /** The answer as it came over the wire. */
  async function raw(method: string, path: string, body: object, by = application) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(vault.baseUrl + path, {
      method,
      headers: { 'svc-api-key': by.key, 'content-type': type, ...headers() },
      body: JSON.stringify(body),
    });
    const { status } = response;
    const [location, contentType] = ['location', 'content-type'].map((name) => response.headers.get(name));
    const replayed = response.headers.get('svc-idempotent-replayed');
    return { replayed, answer: { status, location, contentType, text: await response.text() } };
  }

  it('has a create answered again byte for byte, and done once', async () => {
    const before = await countTokens();
    const first = await raw('POST', '/tokens', CARD);
    const second = await raw('POST', '/tokens', CARD);
    expect(first.answer.status).to.equal(201);
    expect(first.answer.location).to.match(/^\/tokens\/./);
    expect(second.answer).to.deep.equal(first.answer);
    expect([first.replayed, second.replayed]).to.deep.equal([null, 'true']);
    expect(await countTokens()).to.equal(before + 1);
  });

  it('has the first answer given whatever the later body is', async () => {
    const first = await post('/tokens', CARD);
    const bodies = [{ type: 'token', data: 'other' }, { type: 'no such type' }, {}];
    for (const body of bodies) expect((await post('/tokens', body)).body).to.deep.equal(first.body);
    const broken = { key: application.key, headers: headers(), rawBody: '{' };
    expect((await vault.request('POST', '/tokens', broken)).body).to.deep.equal(first.body);
  });

  it('covers PUT', async () => {
    const { body: made } = await vault.request('POST', '/applications', {
      key: manager.key,
      body: { name: 'First', type: 'private', permissions: ['token:read'] },
    });
    const put = (name: string) =>
      raw('PUT', `/applications/${made.id}`, { name, permissions: ['token:read'] }, manager);
    const first = await put('Second');
    expect(first.answer.status).to.equal(200);
    expect((await put('Third')).answer).to.deep.equal(first.answer);
    const { body } = await vault.request('GET', `/applications/${made.id}`, { key: manager.key });
    expect(body.name).to.equal('Second');
  });

  it('covers PATCH', async () => {
    const { body: token } = await vault.request('POST', '/tokens', { key: application.key, body: CARD });
    const patch = (value: string) => raw('PATCH', `/tokens/${token.id}`, { metadata: { note: value } });
    const first = await patch('a');
    expect(first.answer.status).to.equal(200);
    expect((await patch('b')).answer).to.deep.equal(first.answer);
    const { body } = await vault.request('GET', `/tokens/${token.id}`, { key: application.key });
    expect(body.metadata).to.deep.equal({ note: 'a' });
  });

  it('gives the value of an application key again: else it would work, and nobody know it', async () => {
    const body = { name: 'Checkout', type: 'private', permissions: ['token:read'] };
    const first = await post('/applications', body, manager);
    const second = await post('/applications', body, manager);
    expect(second.body).to.deep.equal(first.body);
    expect((await vault.request('GET', '/tokens', { key: second.body.key })).status).to.equal(200);
  });

  it('keeps no failure: the next request with it is tried anew', async () => {
    expect((await post('/tokens', { type: 'card', data: { number: '1' } })).status).to.equal(400);
    const taken = randomUUID();
    await vault.request('POST', '/tokens', { key: application.key, body: { id: taken, type: 'token', data: 1 } });
    expect((await post('/tokens', { id: taken, type: 'token', data: 1 })).status).to.equal(409);
    const { status, headers: given } = await post('/tokens', CARD);
    expect([status, given.has('svc-idempotent-replayed')]).to.deep.equal([201, false]);
  });

  it('belongs to one application', async () => {
    const first = await post('/tokens', CARD);
    const other = await vault.application();
    const second = await post('/tokens', CARD, other);
    expect([second.status, second.body.created_by]).to.deep.equal([201, other.id]);
    expect(second.body.id).not.to.equal(first.body.id);
  });

  it('belongs to one tenant', async () => {
    const first = await post('/tokens', CARD);
    const other = await vault.application({ tenantId: await vault.tenant() });
    const second = await post('/tokens', CARD, other);
    expect([second.status, second.body.tenant_id]).to.deep.equal([201, other.tenantId]);
    expect(second.body.id).not.to.equal(first.body.id);
  });

  it('belongs to one operation: it is refused for another one, and goes on standing for the first', async () => {
    const first = await post('/tokens', CARD);
    const other = await post('/tokenize', { secret: 'a' });
    expect([other.status, other.body.detail]).to.deep.equal([
      409,
      'This idempotency key was used for another operation.',
    ]);
    expect(JSON.stringify(other.body)).not.to.include(first.body.id);
    expect((await post('/tokens', CARD)).body).to.deep.equal(first.body);
  });

  it('belongs to one resource', async () => {
    const paths = ['POST', 'POST'].map(async () => {
      const { body } = await vault.request('POST', '/tokens', { key: application.key, body: CARD });
      return `/tokens/${body.id}`;
    });
    const [one, two] = await Promise.all(paths);
    expect((await raw('PATCH', one!, { metadata: { a: 'b' } })).answer.status).to.equal(200);
    expect((await raw('PATCH', two!, { metadata: { a: 'b' } })).answer.status).to.equal(409);
  });

  for (const name of ['SVC-IDEMPOTENCY-KEY', 'BT-IDEMPOTENCY-KEY', 'bt-idempotency-key']) {
    it(`is taken as ${name}`, async () => {
      const send = () =>
        vault.request('POST', '/tokens', { headers: { 'bt-api-key': application.key, ...headers(name) }, body: CARD });
      const first = await send();
      const second = await send();
      expect(second.body).to.deep.equal(first.body);
      expect(second.headers.get('bt-idempotent-replayed')).to.equal('true');
      expect(second.headers.has('svc-idempotent-replayed')).to.equal(false);
    });
  }

  it('has a trace id of its own in each answer', async () => {
    const [first, second] = [await post('/tokens', CARD), await post('/tokens', CARD)];
    expect(first.headers.get('svc-trace-id')).not.to.equal(second.headers.get('svc-trace-id'));
  });

  for (const [what, value] of [
    ['of 256 characters', 'x'.repeat(256)],
    ['with what is no ASCII', 'clé'],
  ] as const) {
    it(`${what} is refused by the name of its header`, async () => {
      const { status, body } = await vault.request('POST', '/tokens', {
        key: application.key,
        headers: { 'BT-IDEMPOTENCY-KEY': value },
        body: CARD,
      });
      expect(status).to.equal(400);
      expect(body.errors).to.have.all.keys('BT-IDEMPOTENCY-KEY');
    });
  }

  it('of 255 characters, spaces among them, is good', async () => {
    key = `a key ${key} `.padEnd(255, 'x');
    const first = await post('/tokens', CARD);
    expect(first.status).to.equal(201);
    expect((await post('/tokens', CARD)).body).to.deep.equal(first.body);
  });

  for (const name of ['SVC-IDEMPOTENCY-KEY', 'BT-IDEMPOTENCY-KEY']) {
    it(`that is empty is refused: ${name}`, async () => {
      const { status, body } = await vault.request('POST', '/tokens', {
        ...{ key: application.key, body: CARD, headers: { [name]: '' } },
      });
      expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, [name]]);
    });
  }

  it('is without effect on GET and DELETE', async () => {
    const { body: token } = await vault.request('POST', '/tokens', { key: application.key, body: CARD });
    const send = (method: string) =>
      vault.request(method, `/tokens/${token.id}`, { key: application.key, headers: headers() });
    expect((await send('GET')).status).to.equal(200);
    expect((await send('DELETE')).status).to.equal(204);
    expect((await send('GET')).status).to.equal(404);
    expect((await send('DELETE')).status).to.equal(404);
  });
});
