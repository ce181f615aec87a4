import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { type Contract, readContract } from '../../support/openapi.ts';
import { type Answer, startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const ECHO = 'module.exports = async function (req) { return { raw: req.args }; };';

describe('running a reactor over the API', () => {
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;
  let user: TestApplication;
  let echo: string;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    contract = await readContract(vault);
    manager = await vault.application({ type: 'management' });
    user = await vault.application();
    echo = await reactor(ECHO, { configuration: { GREETING: 'hello' } });
  });
  after(() => vault.stop());

  async function reactor(code: string, overrides: object = {}): Promise<string> {
    const { status, body } = await contract.request('POST', '/reactors', {
      ...{ key: manager.key, body: { name: 'Reactor', code, configuration: {}, ...overrides } },
    });
    expect(status).to.equal(201);
    return body.id as string;
  }

  async function token(data: Json, type = 'token', overrides: object = {}): Promise<string> {
    const { body } = await vault.request('POST', '/tokens', { key: user.key, body: { type, data, ...overrides } });
    return body.id as string;
  }

  function react(id: string, args?: object, key = user.key): Promise<Answer> {
    return contract.request('POST', `/reactors/${id}/react`, { key, body: args === undefined ? {} : { args } });
  }

  describe('arguments', () => {
    it('come with plain values, and plaintext in the place of expressions', async () => {
      const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
      const [whole, text] = [await token(card, 'card'), await token('abc')];
      const { status, body } = await react(echo, {
        plain: [1, true, null],
        card: `{{ ${whole} }}`,
        number: `{{ ${whole} | json: '$.number' }}`,
        sentence: `-{{ ${text} }}-`,
        type: `{{ token: ${whole} | json: '$.type' }}`,
        greeting: '{{ config: GREETING }}',
      });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({
        raw: {
          ...{ plain: [1, true, null], card, number: card.number, sentence: '-abc-', type: 'card' },
          greeting: 'hello',
        },
      });
    });

    it('may be left out', async () => {
      expect((await react(echo)).body).to.deep.equal({ raw: {} });
    });

    it('name 100 tokens at most', async () => {
      const ids = (count: number) => Array.from({ length: count }, () => `{{ ${randomUUID()} }}`);
      const tooMany = await react(echo, { all: ids(101) });
      expect(tooMany.status).to.equal(400);
      expect(tooMany.body.errors).to.deep.equal({ args: ['must not name more than 100 tokens'] });
      const { errors } = (await react(echo, { all: ids(100) })).body;
      expect(errors).to.have.property('args.all[99]').that.deep.equals(['names a token that does not exist']);
    });

    it('name no configuration that there is not', async () => {
      const { status, body } = await react(echo, { deep: [{ x: '{{ config: NOPE }}' }] });
      expect(status).to.equal(400);
      expect(body.errors).to.have.all.keys('args.deep[0].x');
    });

    it('are at most 1 MB once expressions are replaced', async () => {
      const big = await token('x'.repeat(600_000));
      expect((await react(echo, { a: `{{ ${big} }}` })).status).to.equal(200);
      expect((await react(echo, { a: `{{ ${big} }}`, b: `{{ ${big} }}` })).status).to.equal(413);
    });

    it('take token:use on the container of every token', async () => {
      const limited = await vault.application({
        rules: [{ priority: 1, container: '/pci/', transform: 'redact', permissions: ['token:use'] }],
        permissions: [],
      });
      const inside = await token('in', 'token', { containers: ['/pci/high/'] });
      const outside = await token('out', 'token', { containers: ['/pii/'] });
      expect((await react(echo, { a: `{{ ${inside} }}` }, limited.key)).body).to.deep.equal({ raw: { a: 'in' } });
      const { status, body } = await react(echo, { a: `{{ ${inside} }}`, b: `{{ ${outside} }}` }, limited.key);
      expect(status).to.equal(403);
      expect(body.detail).to.include(outside).and.not.to.include(inside);
    });
  });

  it('needs token:use at all', async () => {
    const reader = await vault.application({ permissions: ['token:read'] });
    expect((await react(echo, {}, reader.key)).status).to.equal(403);
  });

  describe('results', () => {
    it('hold what is raw, and tokens in the place of what is to be tokenized', async () => {
      const id = await reactor(`module.exports = async ({ args }) => ({
        raw: { seen: args.n },
        tokenize: { pan: { type: 'card_number', data: args.n, id: args.id }, note: 'secret' },
      });`);
      const tokenId = `t-${randomUUID()}`;
      const { status, body } = await react(id, { n: '4242424242424242', id: tokenId });
      expect(status).to.equal(200);
      expect(body.raw).to.deep.equal({ seen: '4242424242424242' });
      expect(body.tokens.pan).to.deep.include({ id: tokenId, type: 'card_number', data: 'XXXXXXXXXXXX4242' });
      const { body: note } = await vault.request('POST', '/detokenize', {
        ...{ key: (await revealing()).key, body: { note: `{{ ${body.tokens.note} }}` } },
      });
      expect(note).to.deep.equal({ note: 'secret' });
      expect((await react(id, { n: '4242424242424242', id: tokenId })).status).to.equal(409);
    });

    it('obey the Tokenize quota', async () => {
      const id = await reactor('module.exports = async ({ args }) => ({ tokenize: args.list });');
      expect((await react(id, { list: [1, 2, 3, 4, 5] })).body.tokens).to.have.length(5);
      const { status, body } = await react(id, { list: [1, 2, 3, 4, 5, 6] });
      expect(status).to.equal(400);
      expect(body.errors).to.deep.equal({ tokenize: ['must not hold more than 5 values to tokenize'] });
    });

    it('name what cannot be tokenized', async () => {
      const id = await reactor('module.exports = async ({ args }) => ({ tokenize: args.list });');
      const { status, body } = await react(id, { list: ['fine', { type: 'card_number', data: 'x' }] });
      expect(status).to.equal(400);
      expect(body.errors).to.have.all.keys('tokenize[1].data');
    });

    it('are refused without a form in JSON', async () => {
      const id = await reactor('module.exports = async () => ({ raw: { big: 10n } });');
      expect((await react(id)).status).to.equal(500);
    });
  });

  async function revealing(): Promise<TestApplication> {
    return vault.application({
      rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
      permissions: [],
    });
  }

  describe('svc', () => {
    const CODE = `module.exports = async ({ args, svc }) => {
      if (svc === null) return { raw: { svc } };
      try {
        return { raw: { value: await svc.tokens[args.operation](args.input) } };
      } catch (error) {
        return { raw: { refused: error.constructor.name } };
      }
    };`;

    it('is null without an application', async () => {
      expect((await react(await reactor(CODE))).body).to.deep.equal({ raw: { svc: null } });
    });

    it('has the rights of the reactor’s application, not those of the caller', async () => {
      const collector = await vault.application({ type: 'public', permissions: ['token:create'] });
      const id = await reactor(CODE, { application: { id: collector.id } });
      const made = await react(id, { operation: 'create', input: { type: 'token', data: 'from svc' } });
      expect(made.body.raw.value).to.include({ type: 'token', created_by: collector.id });
      const read = await react(id, { operation: 'retrieve', input: made.body.raw.value.id as string });
      expect(read.body.raw).to.deep.equal({ refused: 'AuthorizationError' });
    });

    it('is not there once the application is deleted', async () => {
      const gone = await vault.application({ type: 'public', permissions: ['token:create'] });
      const id = await reactor(CODE, { application: { id: gone.id } });
      await vault.request('DELETE', `/applications/${gone.id}`, { key: manager.key });
      expect((await react(id, { operation: 'list' })).status).to.equal(422);
    });

    it('leaves no key behind in the database', async () => {
      const keys = { text: 'select count(*)::integer as count from application_keys' };
      const collector = await vault.application({ type: 'public', permissions: ['token:create'] });
      const id = await reactor(CODE, { application: { id: collector.id } });
      const before = await vault.database.run(keys);
      await react(id, { operation: 'create', input: { type: 'token', data: 1 } });
      expect(await vault.database.run(keys)).to.deep.equal(before);
    });
  });

  it('runs the new code in the very next invocation after a change', async () => {
    const id = await reactor('module.exports = async () => ({ raw: { version: 0 } });');
    expect((await react(id)).body.raw).to.deep.equal({ version: 0 });
    for (const version of [1, 2]) {
      const code = `module.exports = async () => ({ raw: { version: ${version} } });`;
      await contract.request('PATCH', `/reactors/${id}`, { key: manager.key, body: { code } });
      expect((await react(id)).body.raw).to.deep.equal({ version });
    }
    await contract.request('PATCH', `/reactors/${id}`, {
      ...{
        key: manager.key,
        body: { code: 'module.exports = async ({ configuration }) => ({ raw: configuration });' },
      },
    });
    await contract.request('PATCH', `/reactors/${id}`, { key: manager.key, body: { configuration: { A: 'new' } } });
    expect((await react(id)).body.raw).to.deep.equal({ A: 'new' });
  });

  it('is logged: each token used, and the invocation', async () => {
    const used = await token('x');
    const id = await reactor(ECHO);
    await react(id, { a: `{{ ${used} }}` });
    const about = async (entityId: string) =>
      (await contract.request('GET', `/logs?entity_id=${entityId}&size=1`, { key: manager.key })).body
        .data[0] as object;
    expect(await about(used)).to.include({ operation: 'use', entity_type: 'token', actor_id: user.id });
    expect(await about(id)).to.include({ operation: 'react', entity_type: 'reactor', actor_id: user.id });
  });
});
