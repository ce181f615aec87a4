import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';
import { rulesFor } from '../../support/access.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '987' };

describe('detokenize', () => {
  let vault: TestVault;
  let tenantId: string;
  let application: TestApplication;
  let card: string;
  let note: string;
  const create = async (body: object) =>
    (await vault.request('POST', '/tokens', { key: application.key, body })).body.id as string;
  const detokenize = (body: object, { key } = application) => vault.request('POST', '/detokenize', { key, body });
  const resolved = async (body: object) => {
    const answer = await detokenize(body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  };

  before(async () => {
    vault = await startTestVault();
    tenantId = await vault.tenant();
    application = await vault.application({ tenantId, rules: rulesFor({ '/': 'reveal' }) });
    card = await create({ type: 'card', data: CARD, metadata: { k: 'v' } });
    note = await create({ type: 'token', data: 'a note' });
  });
  after(() => vault.stop());

  it('replaces expressions and keeps what is plain', async () => {
    expect(
      await resolved({
        ...{ whole: `{{ ${card} }}`, text: `note: {{${note}}}!`, last: `{{ ${card} | json: '$.number' | last4 }}` },
        ...{ month: `{{ ${card} | json: "$.expiration_month" }}`, none: `{{ ${card} | json: '$.nothing' }}` },
        plain: { number: 5, text: 'plain', list: [null, true, `{{ ${note} }}`], id: card },
      }),
    ).to.deep.equal({
      ...{ whole: CARD, text: 'note: a note!', last: '4242', month: 12, none: null },
      plain: { number: 5, text: 'plain', list: [null, true, 'a note'], id: card },
    });
  });

  it('gives whole tokens with enrichments through token:', async () => {
    const { whole, bin } = await resolved({
      whole: `{{ token: ${card} }}`,
      bin: `{{ token: ${card} | json: '$.enrichments.card_details.bin' }}`,
    });
    expect(whole).to.deep.include({ id: card, type: 'card', data: CARD, metadata: { k: 'v' } });
    expect(whole.enrichments).to.deep.equal({
      card_details: { bin: '42424242', last4: '4242' },
      bin_details: { card_brand: 'visa' },
    });
    expect(bin).to.equal('42424242');
  });

  for (const [name, entry] of [
    ['bare ids', (id: string) => id],
    ['expressions', (id: string) => `{{ ${id} }}`],
    ['whole tokens', (id: string) => `{{ token: ${id} }}`],
  ] as const) {
    it(`lists tokens in plaintext, asked for by ${name}`, async () => {
      const { tokens } = await resolved({ tokens: [entry(card), entry(note), entry(card)] });
      expect((tokens as { id: string }[]).map(({ id }) => id)).to.deep.equal([card, note, card]);
      expect(tokens[0]).to.deep.include({ type: 'card', data: CARD });
      expect(tokens[0].enrichments.card_details.last4).to.equal('4242');
      expect(tokens[1]).to.deep.include({ data: 'a note' }).and.not.to.have.property('enrichments');
    });
  }

  it('lists nothing where nothing is asked for', async () => {
    expect(await resolved({ tokens: [] })).to.deep.equal({ tokens: [] });
    expect(await resolved({})).to.deep.equal({});
  });

  it('reads a member called tokens as any other where it is no list of ids', async () => {
    const expressions = { tokens: [`{{ ${card} | json: '$.number' }}`, `a {{ ${note} }}`] };
    expect(await resolved(expressions)).to.deep.equal({ tokens: [CARD.number, 'a a note'] });
    expect(await resolved({ tokens: [`{{ ${note} }}`], more: 1 })).to.deep.equal({ tokens: ['a note'], more: 1 });
  });

  for (const [name, entry] of [
    ['a filter', '{{ ID | last4 }}'],
    ['text around an expression', 'a {{ ID }}'],
    ['configuration', '{{ config: SECRET }}'],
    ['an expression that is not closed', '{{ ID'],
    ['a number', 5],
    ['a list', ['ID']],
  ] as const) {
    it(`refuses a list of bare ids in which there is ${name}`, async () => {
      const other = JSON.parse(JSON.stringify(entry).replaceAll('ID', card)) as unknown;
      const answer = await detokenize({ tokens: [other, note, `{{ ${card} }}`] });
      expect(answer.status).to.equal(400);
      expect(Object.keys(answer.body.errors)).to.deep.equal(['tokens[0]']);
      expect(answer.body.errors['tokens[0]'][0]).to.match(/^must be a token id or a whole expression/);
    });
  }

  it('leaves plain text that cannot be an id among expressions', async () => {
    const body = { tokens: [`{{ ${card} | json: '$.number' | last4 }}`, 'a/b', 7, null] };
    expect(await resolved(body)).to.deep.equal({ tokens: ['4242', 'a/b', 7, null] });
  });

  it('does not evaluate what comes out of a token', async () => {
    const sly = await create({ type: 'token', data: `{{ ${card} }}` });
    expect(await resolved({ a: `{{ ${sly} }}` })).to.deep.equal({ a: `{{ ${card} }}` });
  });

  for (const transform of ['mask', 'redact'] as const) {
    it(`is forbidden, naming the id, where a rule says ${transform}`, async () => {
      const reader = await vault.application({ tenantId, rules: rulesFor({ '/pci/': transform, '/': 'reveal' }) });
      for (const body of [{ a: `{{ ${note} }}`, b: `{{ ${card} | last4 }}` }, { tokens: [note, card] }]) {
        const answer = await detokenize(body, reader);
        expect(answer.status).to.equal(403);
        expect(answer.body.detail).to.contain(card).and.not.to.contain(note);
        expect(JSON.stringify(answer.body)).not.to.contain('a note');
      }
      expect(await detokenize({ a: `{{ ${note} }}` }, reader)).to.have.property('status', 200);
    });
  }

  it('is forbidden under a plain permission, which shows masks', async () => {
    const reader = await vault.application({ tenantId, permissions: ['token:read', 'token:use'] });
    expect(await detokenize({ a: `{{ ${card} }}` }, reader)).to.have.property('status', 403);
  });

  it('logs nothing for a request that is refused', async () => {
    const id = await create({ type: 'token', data: 'unread' });
    const reader = await vault.application({ tenantId, permissions: ['token:read'] });
    await detokenize({ tokens: [id] }, reader);
    await detokenize({ tokens: [id, randomUUID()] });
    const rows = await vault.database.run({ text: 'select operation from logs where entity_id = $1' }, [id]);
    expect(rows).to.deep.equal([{ operation: 'create' }]);
  });

  it('refuses an unknown id, as a whole', async () => {
    const unknown = randomUUID();
    for (const [body, paths] of [
      [{ a: `{{ ${note} }}`, b: `{{ ${unknown} }}`, c: [`x {{ token: ${unknown} }}`] }, ['b', 'c[0]']],
      [{ tokens: [unknown, note, `{{ ${unknown} }}`] }, ['tokens[0]', 'tokens[2]']],
    ] as const) {
      const answer = await detokenize(body);
      expect(answer.status).to.equal(400);
      const message = ['names a token that does not exist'];
      expect(answer.body.errors).to.deep.equal(Object.fromEntries(paths.map((path) => [path, message])));
      expect(JSON.stringify(answer.body)).not.to.contain('a note');
    }
  });

  it('does not repeat data that stands where an id belongs', async () => {
    for (const body of [{ a: `{{ ${CARD.number} }}` }, { tokens: [CARD.number] }]) {
      const answer = await detokenize(body);
      expect(answer.status).to.equal(400);
      expect(JSON.stringify(answer.body)).not.to.contain('42424242');
    }
  });

  for (const [name, body, path] of [
    ['a filter that does not exist', { a: '{{ ID | nope }}' }, 'a'],
    ['a path with several results', { a: { b: ["{{ ID | json: '$.*' }}"] } }, 'a.b[0]'],
    ['a filter that fails', { a: "{{ ID | json: '$.number' | to_boolean }}" }, 'a'],
    ['an expression without an id', { a: '{{ }}' }, 'a'],
    ['an expression that is not closed', { a: '{{ ID' }, 'a'],
    ['configuration', { a: { b: '{{ config: SECRET }}' } }, 'a.b'],
    ['configuration in a list', { tokens: ['{{ config: SECRET }}'] }, 'tokens[0]'],
    ['a list with what cannot be an id', { tokens: ['ID', 'a/b'] }, 'tokens[1]'],
  ] as const) {
    it(`refuses ${name}, without data`, async () => {
      const named = JSON.parse(JSON.stringify(body).replaceAll('ID', card)) as object;
      const answer = await detokenize(named);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(400);
      expect(Object.keys(answer.body.errors)).to.deep.equal([path]);
      expect(JSON.stringify(answer.body)).not.to.contain('42424242');
    });
  }

  it('refuses a body that is no object', async () => {
    for (const body of [[`{{ ${note} }}`], 'text']) {
      const answer = await vault.request('POST', '/detokenize', { key: application.key, body: body as object });
      expect(answer.status).to.equal(400);
      expect(answer.body.errors).to.deep.equal({ '': ['must be an object'] });
    }
  });

  it('counts distinct tokens against the quota of the tenant', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, (_, index) => create({ type: 'token', data: index })));
    const five = ids.slice(0, 5);
    expect((await resolved({ tokens: [...five, ...five] })).tokens).to.have.length(10);
    for (const body of [{ tokens: ids }, { all: ids.map((id) => `{{ ${id} }}`) }]) {
      const answer = await detokenize(body);
      expect(answer.status).to.equal(400);
      expect(answer.body.errors).to.deep.equal({ '': ['must not name more than 5 tokens'] });
    }
    const wide = await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, detokenize: 6 } });
    const reader = await vault.application({ tenantId: wide, rules: rulesFor({ '/': 'reveal' }) });
    const body = { type: 'token', data: 'x' };
    const more = await Promise.all(ids.map(() => vault.request('POST', '/tokens', { key: reader.key, body })));
    expect(await detokenize({ tokens: more.map((answer) => answer.body.id as string) }, reader)).to.include({
      status: 200,
    });
  });
});
