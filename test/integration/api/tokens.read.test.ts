import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { rulesFor } from '../../support/access.ts';
import { SAMPLES } from '../../support/sample-data.ts';
import { startTestVault, type Answer, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('reading and deleting a token', () => {
  let vault: TestVault;
  let application: TestApplication;
  let stranger: TestApplication;
  let card: string;
  const { data, masked } = SAMPLES.card;
  const request = (method: string, path: string, { key } = application, body?: object) =>
    vault.request(method, path, { key, body });
  const operationsOn = async (id: string) => {
    const text = 'select operation, entity_type, actor_id from logs where entity_id = $1 order by created_at, log_id';
    return vault.database.run<{ operation: string; entity_type: string; actor_id: string }>({ text }, [id]);
  };

  before(async () => {
    vault = await startTestVault();
    application = await vault.application();
    stranger = await vault.application({ tenantId: await vault.tenant() });
  });
  after(() => vault.stop());
  beforeEach(async () => {
    card = (await request('POST', '/tokens', application, { type: 'card', data, metadata: { a: 'b' } })).body.id;
  });

  for (const [transform, expected] of [
    ['redact', undefined],
    ['mask', masked],
    ['reveal', data],
  ] as const) {
    it(`shows data as a rule says: ${transform}`, async () => {
      const reader = await vault.application({ rules: rulesFor({ '/pci/': transform }) });
      const { status, body } = await request('GET', `/tokens/${card}`, reader);
      expect([status, body.data]).to.deep.equal([200, expected]);
      expect(body).to.deep.include({ id: card, type: 'card', metadata: { a: 'b' }, created_by: application.id });
      expect(body).not.to.have.any.keys('enrichments', 'modified_at', 'modified_by', 'privacy');
    });
  }

  it('shows data masked under a plain permission', async () => {
    expect((await request('GET', `/tokens/${card}`)).body.data).to.deep.equal(masked);
  });

  it('lets the rule of the lowest number decide', async () => {
    const reader = await vault.application({ rules: rulesFor({ '/pci/high/': 'redact', '/': 'reveal' }) });
    expect((await request('GET', `/tokens/${card}`, reader)).body).not.to.have.property('data');
  });

  it('is forbidden where no rule covers the container, or the permission is missing', async () => {
    const elsewhere = await vault.application({ rules: rulesFor({ '/bank/': 'reveal', '/pci/low/': 'reveal' }) });
    const writer = await vault.application({ rules: rulesFor({ '/': 'reveal' }, ['token:create']) });
    for (const reader of [elsewhere, writer]) {
      for (const method of ['GET', 'DELETE']) {
        const { status, body } = await request(method, `/tokens/${card}`, reader);
        expect(status).to.equal(403);
        expect(JSON.stringify(body)).not.to.contain('42424242');
      }
    }
    expect(await operationsOn(card)).to.have.length(1);
  });

  it('answers for the tokens of other tenants exactly as for unknown ones', async () => {
    const alike = ({ status, body }: Answer) => ({ status, body: { ...body, instance: '' } as object });
    for (const [method, body] of [['GET'], ['PATCH', { metadata: { a: 'c' } }], ['DELETE']] as const) {
      const foreign = await request(method, `/tokens/${card}`, stranger, body);
      expect(foreign.status).to.equal(404);
      expect(alike(foreign)).to.deep.equal(alike(await request(method, `/tokens/${randomUUID()}`, stranger, body)));
    }
    const unknown = randomUUID();
    const foreign = await request('POST', '/detokenize', stranger, { tokens: [card] });
    const nobody = await request('POST', '/detokenize', stranger, { tokens: [unknown] });
    const named = JSON.parse(JSON.stringify(alike(nobody)).replaceAll(unknown, card)) as object;
    expect(alike(foreign)).to.deep.equal(named);
    for (const path of [`/tokens?id=${card}`, '/v2/tokens']) {
      expect((await request('GET', path, stranger)).body.data, path).to.deep.equal([]);
    }
    expect((await request('GET', `/tokens/${card}`)).body.metadata).to.deep.equal({ a: 'b' });
  });

  it('is 404 for what cannot be an id', async () => {
    for (const id of ['a%00b', 'x'.repeat(401), '%ff', '..%2f..', 'toString', '__proto__']) {
      expect(await request('GET', `/tokens/${id}`), id).to.have.property('status', 404);
    }
  });

  it('forgets a deleted token and keeps its id in the log', async () => {
    const answer = await request('DELETE', `/tokens/${card}`);
    expect([answer.status, answer.body]).to.deep.equal([204, undefined]);
    for (const method of ['GET', 'DELETE']) {
      expect(await request(method, `/tokens/${card}`)).to.have.property('status', 404);
    }
    for (const table of ['tokens', 'token_cvcs', 'token_search_hashes']) {
      const rows = await vault.database.run({ text: `select from ${table} where token_id = $1` }, [card]);
      expect(rows, table).to.have.length(0);
    }
    expect((await operationsOn(card)).map(({ operation }) => operation)).to.deep.equal(['create', 'delete']);
  });

  it('logs every operation with its actor and kind of entity, and nothing else', async () => {
    const revealing = await vault.application({ rules: rulesFor({ '/': 'reveal' }) });
    await request('GET', `/tokens/${card}`);
    await request('GET', `/tokens?id=${card}`);
    await request('GET', `/v2/tokens?size=1`, revealing);
    await request('PATCH', `/tokens/${card}`, application, { metadata: { c: 'd' } });
    await request('POST', '/detokenize', revealing, { a: `{{ ${card} }}`, b: `{{ ${card} }}` });
    await request('DELETE', `/tokens/${card}`);
    expect(await operationsOn(card)).to.deep.equal(
      ['create', 'read', 'read', 'read', 'update', 'detokenize', 'delete'].map((operation, index) => ({
        ...{ operation, entity_type: 'card', actor_id: index === 3 || index === 5 ? revealing.id : application.id },
      })),
    );
  });

  it('logs tokens that are neither cards nor banks as tokens', async () => {
    const { body } = await request('POST', '/tokens', application, { type: 'card_number', data: '4242424242424242' });
    expect((await operationsOn(body.id as string))[0]).to.have.property('entity_type', 'token');
  });
});

describe('tokens while the audit log cannot be written', () => {
  let vault: TestVault;
  let key: string;
  let id: string;
  const SECRET = 'plaintext-of-the-token';

  before(async () => {
    vault = await startTestVault();
    ({ key } = await vault.application({ rules: rulesFor({ '/': 'reveal' }) }));
    ({ id } = (await vault.request('POST', '/tokens', { key, body: { type: 'token', data: SECRET } })).body);
    await vault.database.run({ text: 'alter table logs rename to logs_away' });
  });
  after(() => vault.stop());

  for (const [method, path, body] of [
    ['GET', '/tokens/ID'],
    ['GET', '/tokens'],
    ['GET', '/v2/tokens'],
    ['POST', '/detokenize', { a: '{{ ID }}' }],
    ['POST', '/detokenize', { tokens: ['ID'] }],
    ['POST', '/tokens', { type: 'token', data: SECRET, deduplicate_token: true }],
  ] as const) {
    it(`answers 503 without data: ${method} ${path} ${JSON.stringify(body ?? '')}`, async () => {
      const named = body && (JSON.parse(JSON.stringify(body).replace('ID', id)) as object);
      const answer = await vault.request(method, path.replace('ID', id), { key, body: named });
      expect(answer.status).to.equal(503);
      expect(JSON.stringify(answer.body)).not.to.contain(SECRET);
      expect(answer.headers.get('retry-after')).to.equal('1');
    });
  }

  for (const [method, path, body] of [
    ['POST', '/tokens', { id: 'unlogged', type: 'token', data: SECRET }],
    ['POST', '/tokenize', [{ id: 'unlogged', type: 'token', data: SECRET }]],
    ['PATCH', '/tokens/ID', { metadata: { changed: 'yes' } }],
    ['DELETE', '/tokens/ID'],
  ] as const) {
    it(`changes nothing: ${method} ${path}`, async () => {
      const answer = await vault.request(method, path.replace('ID', id), { key, body });
      expect(answer.status).to.equal(503);
      expect(JSON.stringify(answer.body)).not.to.contain(SECRET);
      const rows = await vault.database.run({ text: 'select token_id, version from tokens' });
      expect(rows).to.deep.equal([{ token_id: id, version: 1 }]);
    });
  }
});
