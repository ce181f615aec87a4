import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';
import { rulesFor } from '../../support/access.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const CARD = { type: 'card', data: { number: '4242424242424242', cvc: '987' } };

describe('tokenize', () => {
  let vault: TestVault;
  let tenantId: string;
  let application: TestApplication;
  const tokenize = (body: Json, { key } = application) =>
    vault.request('POST', '/tokenize', {
      key,
      rawBody: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  const reveal = async (id: string) =>
    (await vault.request('GET', `/tokens/${id}`, { key: application.key })).body.data as Json;
  const count = async () =>
    (
      await vault.database.run<{ count: number }>(
        { text: 'select count(*)::integer as count from tokens where tenant_id = $1' },
        [tenantId],
      )
    )[0]!.count;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    application = await vault.application({ tenantId, rules: rulesFor({ '/': 'reveal' }) });
  });

  it('keeps the shape, with ids for primitives and tokens for token objects', async () => {
    const { status, body } = await tokenize({
      a: 'one',
      list: [2, { deep: true }, []],
      none: null,
      empty: {},
      card: CARD,
    });
    expect(status).to.equal(200);
    expect(body).to.include({ none: null }).and.to.have.deep.property('empty', {});
    expect(body.list[2]).to.deep.equal([]);
    expect([await reveal(body.a), await reveal(body.list[0]), await reveal(body.list[1].deep)]).to.deep.equal([
      'one',
      2,
      true,
    ]);
    expect(body.card).to.deep.include({ type: 'card', containers: ['/pci/high/'] });
    expect(body.card.data.number).to.equal('XXXXXXXXXXXX4242');
    expect(await reveal(body.card.id)).to.deep.equal(CARD.data);
  });

  it('takes any JSON at the top', async () => {
    for (const value of ['text', 0, false]) {
      const { body } = await tokenize(value);
      expect(body).to.match(UUID);
      expect(await reveal(body as string)).to.equal(value);
    }
    expect((await tokenize(null)).body).to.equal(null);
    expect((await tokenize([])).body).to.deep.equal([]);
    expect((await tokenize(CARD)).body).to.include({ type: 'card' });
  });

  it('keeps apart members whose paths read alike', async () => {
    const { body } = await tokenize({ 'a.b': 'dotted', a: { b: 'nested' }, 'l[0]': 'bracketed', l: ['listed'] });
    const values = [body['a.b'], body.a.b, body['l[0]'], body.l[0]] as string[];
    expect(await Promise.all(values.map(reveal))).to.deep.equal(['dotted', 'nested', 'bracketed', 'listed']);
  });

  it('takes every field of a token where it is created', async () => {
    const token = { ...CARD, id: 'chosen', containers: ['/mine/'], metadata: { k: 'v' }, expires_at: '2099-01-01' };
    const { body } = await tokenize({ token });
    expect(body.token).to.deep.include({ id: 'chosen', containers: ['/mine/'], metadata: { k: 'v' } });
  });

  it('stores nothing where one entry is refused, and names the faults of all', async () => {
    const { status, body } = await tokenize({
      good: 'fine',
      cards: [CARD, { type: 'card', data: { number: '4242424242424241' }, containers: ['/a/', '/b/'] }],
      odd: { type: 'unheard-of', data: 'x' },
    });
    expect(status).to.equal(400);
    expect(Object.keys(body.errors)).to.have.members(['cards[1].data.number', 'cards[1].containers', 'odd.type']);
    expect(JSON.stringify(body)).not.to.contain('42424242');
    expect(await count()).to.equal(0);
  });

  it('stores nothing where one id is taken', async () => {
    await tokenize({ type: 'token', data: 'x', id: 'taken' });
    const { status } = await tokenize(['other', { type: 'token', data: 'y', id: 'taken' }]);
    expect(status).to.equal(409);
    expect(await count()).to.equal(1);
    const twice = { type: 'token', data: 'y', id: 'twice' };
    expect(await tokenize([twice, twice])).to.have.property('status', 409);
    expect(await count()).to.equal(1);
  });

  it('gives other ids where an expression gives a taken one', async () => {
    const token = { type: 'token', data: 'same', id: 'id-{{ data }}' };
    const { status, body } = await tokenize([token, token]);
    expect(status).to.equal(200);
    expect(body[0].id).to.equal('id-same');
    expect(body[1].id).to.match(UUID);
    expect(await reveal(body[1].id)).to.equal('same');
  });

  it('is forbidden as a whole where one container is not granted', async () => {
    const limited = await vault.application({ tenantId, rules: rulesFor({ '/pci/': 'mask' }) });
    expect(await tokenize(CARD, limited)).to.have.property('status', 200);
    expect(await tokenize([CARD, 'elsewhere'], limited)).to.have.property('status', 403);
    expect(await count()).to.equal(1);
  });

  it('shows token objects as the grant of token:create says', async () => {
    const redacted = await vault.application({ tenantId, rules: rulesFor({ '/': 'redact' }) });
    expect((await tokenize(CARD, redacted)).body).not.to.have.property('data');
  });

  it('counts against the quota of the tenant', async () => {
    expect(await tokenize(['1', '2', '3', '4', '5'])).to.have.property('status', 200);
    const { status, body } = await tokenize(['1', '2', '3', '4', { type: 'token', data: '5' }, '6', null]);
    expect(status).to.equal(400);
    expect(body.errors).to.deep.equal({ '': ['must not hold more than 5 values to tokenize'] });
    expect(await count()).to.equal(5);
    const wide = await vault.application({
      tenantId: await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, tokenize: 6 } }),
    });
    expect(await tokenize(['1', '2', '3', '4', '5', '6'], wide)).to.have.property('status', 200);
  });

  it('stores duplicates within one payload once', async () => {
    const token = { ...CARD, deduplicate_token: true };
    const { body } = await tokenize({ a: token, b: [token], c: { type: 'token', data: 'c' } });
    expect(body.b[0]).to.deep.equal(body.a);
    expect(await count()).to.equal(2);
  });

  it('answers a duplicate of a stored token with that one, and logs that it was read', async () => {
    const { body: first } = await tokenize({ ...CARD, deduplicate_token: true });
    const { body } = await tokenize({ a: { ...CARD, deduplicate_token: true }, b: 'new' });
    expect(body.a).to.deep.equal(first);
    const text = 'select operation from logs where entity_id = $1 order by created_at, log_id';
    const rows = await vault.database.run({ text }, [first.id]);
    expect(rows).to.deep.equal([{ operation: 'create' }, { operation: 'read' }]);
  });

  it('tells a caller who may not read a duplicate no more than that it is there', async () => {
    const { body: first } = await tokenize(CARD);
    const collector = await vault.application({ tenantId, type: 'public' });
    const { body } = await tokenize({ ...CARD, deduplicate_token: true }, collector);
    const { id, type, tenant_id, fingerprint, containers } = first;
    expect(body).to.deep.equal({ id, type, tenant_id, fingerprint, containers });
  });

  it('takes objects without type or data as payload', async () => {
    const { body } = await tokenize({ type: 'person', name: 'Ann' });
    expect(body.type).to.match(UUID);
    expect(await reveal(body.name)).to.equal('Ann');
  });
});
