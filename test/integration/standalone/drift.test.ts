import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createStandaloneFolder, UNLIMITED_TENANT, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { runProgram, SAMPLES, startStandalone, type StandaloneProgram } from '../../support/standalone.ts';

describe('what the API changes of declared things', function () {
  this.timeout(60_000);
  let test: TestDatabase;
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;
  let admin: string;

  before(async () => {
    test = await createTestDatabase();
    folder = await createStandaloneFolder(SAMPLES);
    await folder.write('tenant.yaml', [UNLIMITED_TENANT]);
    vault = await startStandalone({ ...folder, flags: ['--database-url', test.connectionString] });
    admin = await vault.keyOf('admin');
  });
  after(async () => {
    await vault.stop();
    await test.dispose();
    await folder.dispose();
  });

  const get = async (path: string) => (await vault.request('GET', path, { key: admin })).body;
  /** What a declaration decides of a resource: all but who changed it when. */
  async function declared(path: string): Promise<unknown> {
    const withoutHistory = (name: string, value: unknown) => (/^(created|modified)_/.test(name) ? undefined : value);
    return JSON.parse(JSON.stringify(await get(path), withoutHistory));
  }
  async function pathOf(list: string, name: string): Promise<string> {
    const { data } = await get(`/${list}?size=100`);
    return `/${list}/${(data as { id: string; name: string }[]).find((item) => item.name === name)!.id}`;
  }

  it('puts an updated application back', async () => {
    const path = await pathOf('applications', 'Payments backend');
    const before = await declared(path);
    const body = { name: 'Taken over', permissions: ['token:read'] };
    expect((await vault.request('PUT', path, { key: admin, body })).status).to.equal(200);
    await eventually(async () => expect(await declared(path)).to.deep.equal(before));
  });

  it('brings a deleted application back with its id and its key', async () => {
    const path = await pathOf('applications', 'Customer support');
    const key = await vault.keyOf('support');
    const before = await declared(path);
    expect((await vault.request('DELETE', path, { key: admin })).status).to.equal(204);
    await eventually(async () => expect(await declared(path)).to.deep.equal(before));
    await eventually(async () => expect((await vault.request('GET', '/tokens', { key })).status).to.equal(200));
    expect(await vault.keyOf('support')).to.equal(key);
  });

  it('brings a deleted key back, and leaves keys that were added beside it', async () => {
    const path = await pathOf('applications', 'Auditors');
    const key = await vault.keyOf('auditor');
    const added = await vault.request('POST', `${path}/keys`, { key: admin });
    expect(added.status).to.equal(201);
    const { data } = await get(`${path}/keys`);
    const own = (data as { id: string }[]).find(({ id }) => id !== added.body.id)!;
    expect((await vault.request('DELETE', `${path}/keys/${own.id}`, { key: admin })).status).to.equal(204);
    await eventually(async () => expect((await vault.request('GET', '/tokens', { key })).status).to.equal(200));
    expect(await vault.keyOf('auditor')).to.equal(key);
    expect((await vault.request('GET', '/tokens', { key: added.body.key })).status).to.equal(200);
  });

  it('puts name and settings of a declared tenant back', async () => {
    const permissions = ['tenant:read', 'tenant:update'];
    const application = { name: 'Tenants', type: 'management', permissions };
    const { key } = (await vault.request('POST', '/applications', { key: admin, body: application })).body;
    const held = async () => (await vault.request('GET', '/tenants/self', { key })).body;
    const before = await held();
    const body = { name: 'Taken over', settings: { deduplicate_tokens: 'true' } };
    expect((await vault.request('PUT', '/tenants/self', { key, body })).body.name).to.equal('Taken over');
    await eventually(async () => expect(await held()).to.deep.equal(before));
  });

  it('puts a patched or deleted reactor back, and its code runs as declared', async () => {
    const path = await pathOf('reactors', 'Card brand');
    const before = await declared(path);
    const react = async () =>
      vault.request('POST', `${path}/react`, {
        key: await vault.keyOf('payments'),
        body: { args: { card: '4242424242424242' } },
      });
    const body = { name: 'Taken over', code: 'module.exports = async () => ({ raw: "taken over" });' };
    expect((await vault.request('PATCH', path, { key: admin, body })).status).to.equal(204);
    await eventually(async () => expect(await declared(path)).to.deep.equal(before));
    await eventually(async () => expect((await react()).body.raw).to.deep.equal({ brand: 'visa', last4: '4242' }));

    expect((await vault.request('DELETE', path, { key: admin })).status).to.equal(204);
    await eventually(async () => expect(await declared(path)).to.deep.equal(before));
    await eventually(async () => expect((await react()).body.raw).to.deep.equal({ brand: 'visa', last4: '4242' }));
  });

  it('leaves what only the API knows of alone, and runs its reactors', async () => {
    const code = 'module.exports = async (req) => ({ raw: req.configuration.WORD });';
    const made = await vault.request('POST', '/reactors', {
      key: admin,
      body: { name: 'Undeclared', code, configuration: { WORD: 'hello' } },
    });
    expect(made.status).to.equal(201);
    const key = await vault.keyOf('payments');
    const reacted = await vault.request('POST', `/reactors/${made.body.id}/react`, { key, body: {} });
    expect(reacted.body.raw).to.equal('hello');
    expect((await runProgram(['status', '--data-dir', folder.dataDir])).stdout).not.to.include('undeclared');
    expect((await vault.request('DELETE', `/reactors/${made.body.id}`, { key: admin })).status).to.equal(204);
  });
});
