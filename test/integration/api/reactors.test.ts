import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Contract, readContract } from '../../support/openapi.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CODE = 'module.exports = async function (req) { return { raw: { ok: true } }; };';

describe('reactors over the API', () => {
  let vault: TestVault;
  let contract: Contract;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    contract = await readContract(vault);
  });
  after(() => vault.stop());
  beforeEach(async () => {
    manager = await vault.application({ type: 'management', tenantId: await vault.tenant() });
  });

  const send = (method: string, path: string, body?: object) =>
    contract.request(method, path, { key: manager.key, ...(body ? { body } : {}) });

  async function create(overrides: object = {}): Promise<{ id: string }> {
    const { status, body } = await send('POST', '/reactors', {
      ...{ name: 'Reactor', code: CODE, configuration: { A: '1' } },
      ...overrides,
    });
    expect(status).to.equal(201);
    return body as { id: string };
  }

  it('are created, read, replaced and deleted', async () => {
    const created = await send('POST', '/reactors', { name: 'One', code: CODE, configuration: { A: '1' } });
    expect(created.status).to.equal(201);
    const { id } = created.body as { id: string };
    expect(created.headers.get('location')).to.equal(`/reactors/${id}`);
    expect(created.body).to.deep.include({
      ...{ tenant_id: manager.tenantId, name: 'One', code: CODE, configuration: { A: '1' }, created_by: manager.id },
    });
    expect((await send('GET', `/reactors/${id}`)).body).to.deep.equal(created.body);

    const { id: applicationId } = await vault.application({ tenantId: manager.tenantId });
    const replaced = await send('PUT', `/reactors/${id}`, {
      ...{ name: 'Two', code: CODE, configuration: {}, application: { id: applicationId } },
    });
    expect(replaced.status).to.equal(200);
    expect(replaced.body).to.deep.include({
      ...{ id, name: 'Two', configuration: {}, application: { id: applicationId }, modified_by: manager.id },
    });
    const without = await send('PUT', `/reactors/${id}`, { name: 'Two', code: CODE, configuration: {} });
    expect(without.body).not.to.have.property('application');

    expect((await send('DELETE', `/reactors/${id}`)).status).to.equal(204);
    expect((await send('GET', `/reactors/${id}`)).status).to.equal(404);
    expect((await send('DELETE', `/reactors/${id}`)).status).to.equal(404);
  });

  for (const [what, overrides, path] of [
    ['without a name', { name: undefined }, 'name'],
    ['with a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
    ['without code', { code: undefined }, 'code'],
    ['with code of 50,001 characters', { code: CODE.padEnd(50_001) }, 'code'],
    ['without configuration', { configuration: undefined }, 'configuration'],
    [
      'with 26 entries of configuration',
      { configuration: Object.fromEntries(Array.from({ length: 26 }, (_, index) => [`N${index}`, ''])) },
      'configuration',
    ],
    ['with a number for configuration', { configuration: { A: 1 } }, 'configuration.A'],
    ['with an application that there is not', { application: { id: randomUUID() } }, 'application.id'],
    ['with an application under no UUID', { application: { id: `urn:uuid:${randomUUID()}` } }, 'application.id'],
  ] as const) {
    it(`are refused ${what}`, async () => {
      const { status, body } = await send('POST', '/reactors', {
        ...{ name: 'Reactor', code: CODE, configuration: {} },
        ...overrides,
      });
      expect(status).to.equal(400);
      expect(Object.keys(body.errors as object)).to.deep.equal([path]);
    });
  }

  it('take code of 50,000 characters and 25 entries of configuration', async () => {
    const entries = Array.from({ length: 25 }, (_, index) => [`N${index}`, 'v']);
    await create({ code: CODE.padEnd(50_000), configuration: Object.fromEntries(entries) as object });
  });

  it('act for no management application, and for none of another tenant', async () => {
    const foreign = await vault.application({ tenantId: await vault.tenant() });
    for (const { id } of [manager, foreign]) {
      const { status, body } = await send('POST', '/reactors', {
        ...{ name: 'x', code: CODE, configuration: {}, application: { id } },
      });
      expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, ['application.id']]);
    }
  });

  for (const [what, code, said] of [
    ['does not parse', '\n\nmodule.exports = async (req) => {', /line \d/],
    ['exports no function', 'module.exports = { run: 1 };', /does not export a function/],
    ['throws while it is loaded', 'const SECRET = "s3cr3t-text"; throw new Error(SECRET);', /while it is loaded/],
    ['requires an unknown module', 'require("fs"); module.exports = () => ({});', /"fs".*Available/s],
  ] as const) {
    it(`are refused as unprocessable where the code ${what}, without quoting it`, async () => {
      const { status, body } = await send('POST', '/reactors', { name: 'x', code, configuration: {} });
      expect(status).to.equal(422);
      expect(body.detail).to.match(said);
      expect(body.errors.code).to.deep.equal([body.detail]);
      expect(JSON.stringify(body)).not.to.include('s3cr3t');
    });
  }

  describe('patched', () => {
    it('change what is named and keep the rest', async () => {
      const { id: applicationId } = await vault.application({ tenantId: manager.tenantId });
      const { id } = await create({ configuration: { A: '1', B: '2' }, application: { id: applicationId } });
      const { status, body } = await send('PATCH', `/reactors/${id}`, {
        ...{ name: 'New', configuration: { A: null, C: '3' }, application: {} },
      });
      expect([status, body]).to.deep.equal([204, undefined]);
      expect((await send('GET', `/reactors/${id}`)).body).to.deep.include({
        ...{ name: 'New', code: CODE, configuration: { B: '2', C: '3' }, application: { id: applicationId } },
      });
    });

    it('lose their application by null', async () => {
      const { id: applicationId } = await vault.application({ tenantId: manager.tenantId });
      const { id } = await create({ application: { id: applicationId } });
      expect((await send('PATCH', `/reactors/${id}`, { application: null })).status).to.equal(204);
      expect((await send('GET', `/reactors/${id}`)).body).not.to.have.property('application');
    });

    it('are refused under another Content-Type', async () => {
      const { id } = await create();
      const { status } = await contract.request('PATCH', `/reactors/${id}`, {
        ...{ key: manager.key, body: { name: 'x' }, headers: { 'content-type': 'application/json' } },
      });
      expect(status).to.equal(415);
    });

    it('are refused with code that does not compile, and with too much configuration in all', async () => {
      const { id } = await create();
      expect((await send('PATCH', `/reactors/${id}`, { code: '{' })).status).to.equal(422);
      const replaced = { name: 'x', code: '{', configuration: {} };
      expect((await send('PUT', `/reactors/${id}`, replaced)).status).to.equal(422);
      const configuration = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`N${index}`, 'v']));
      const { status, body } = await send('PATCH', `/reactors/${id}`, { configuration });
      expect([status, Object.keys(body.errors as object)]).to.deep.equal([400, ['configuration']]);
      expect((await send('GET', `/reactors/${id}`)).body).to.deep.include({ code: CODE, configuration: { A: '1' } });
    });

    it('keep every change of patches that come at once', async () => {
      const { id } = await create({ configuration: {} });
      const { id: applicationId } = await vault.application({ tenantId: manager.tenantId });
      const patches = [
        { configuration: { A: 'A' } },
        { name: 'Renamed' },
        { configuration: { B: 'B' } },
        { application: { id: applicationId } },
      ];
      const answers = await Promise.all(patches.map((patch) => send('PATCH', `/reactors/${id}`, patch)));
      expect(answers.map(({ status }) => status)).to.deep.equal([204, 204, 204, 204]);
      expect((await send('GET', `/reactors/${id}`)).body).to.deep.include({
        ...{ name: 'Renamed', configuration: { A: 'A', B: 'B' }, application: { id: applicationId } },
      });
    });

    it('keep every change, however many patches come at once', async () => {
      const { id } = await create({ configuration: {} });
      const configuration = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`N${index}`, 'set']));
      const answers = await Promise.all(
        Object.entries(configuration).map(([name, value]) =>
          send('PATCH', `/reactors/${id}`, { configuration: { [name]: value } }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(204));
      expect((await send('GET', `/reactors/${id}`)).body.configuration).to.deep.equal(configuration);
    });
  });

  it('are found by name with wildcards, by id, and by page', async () => {
    const [card, bank] = [await create({ name: 'Card brand' }), await create({ name: 'Bank_brand' })];
    const found = async (query: string) =>
      (await send('GET', `/reactors?${query}`)).body.data.map(({ id }: { id: string }) => id) as string[];
    expect(await found('name=card*')).to.deep.equal([card.id]);
    expect(await found('name=*BRAND')).to.have.members([card.id, bank.id]);
    expect(await found('name=brand')).to.deep.equal([]);
    expect(await found('name=Card_brand')).to.deep.equal([]);
    expect(await found(`id=${bank.id}`)).to.deep.equal([bank.id]);
    expect(await found('size=1&page=2')).to.have.length(1);
    expect((await send('GET', '/reactors?name=%00')).status).to.equal(400);
  });

  it('are those of one tenant: others find none', async () => {
    const { id } = await create();
    const stranger = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    const user = await vault.application({ tenantId: stranger.tenantId });
    for (const [method, path, key, body] of [
      ['GET', '', stranger.key, undefined],
      ['PUT', '', stranger.key, { name: 'x', code: CODE, configuration: {} }],
      ['PATCH', '', stranger.key, { name: 'x' }],
      ['DELETE', '', stranger.key, undefined],
      ['POST', '/react', user.key, { args: {} }],
    ] as const) {
      const options = { key, ...(body ? { body } : {}) };
      const foreign = await contract.request(method, `/reactors/${id}${path}`, options);
      const unknown = await contract.request(method, `/reactors/${randomUUID()}${path}`, options);
      expect(foreign.status, method).to.equal(404);
      expect({ ...foreign.body, instance: '' }).to.deep.equal({ ...unknown.body, instance: '' });
      expect((await contract.request(method, `/reactors/no-uuid${path}`, options)).status).to.equal(404);
    }
    expect((await send('GET', `/reactors?id=${id}`)).body.data).to.have.length(1);
  });

  it('are sealed in the database, and their revision tells nothing', async () => {
    const { id } = await create({
      code: `${CODE} // canary-in-code`,
      configuration: { PASSWORD: 'canary-in-configuration' },
    });
    const [row] = await vault.database.run<{ text: string; bytes: Buffer; revision: string }>(
      {
        text: `select r::text as text, code || configuration as bytes, revision from reactors r where reactor_id = $1`,
      },
      [id],
    );
    for (const canary of ['canary-in-code', 'canary-in-configuration', 'PASSWORD']) {
      expect(row!.text).not.to.include(canary).and.not.to.include(Buffer.from(canary).toString('hex'));
      expect(row!.bytes.includes(canary)).to.equal(false);
    }
    const twin = await create({
      code: `${CODE} // canary-in-code`,
      configuration: { PASSWORD: 'canary-in-configuration' },
    });
    const [other] = await vault.database.run<{ revision: string }>(
      { text: 'select revision from reactors where reactor_id = $1' },
      [twin.id],
    );
    expect(other!.revision).not.to.equal(row!.revision);
  });
});
