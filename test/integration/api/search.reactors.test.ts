import { expect } from 'chai';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('searches by reactors', function () {
  this.timeout(30_000);
  let vault: TestVault;
  let tenantId: string;
  let manager: TestApplication;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    tenantId = await vault.tenant();
    manager = await vault.application({ tenantId, type: 'management' });
  });
  after(() => vault.stop());

  async function reactorOf(application: TestApplication): Promise<string> {
    const code = `module.exports = async ({ args, svc }) => {
      try {
        const { data, pagination } = await svc.tokens.search({ query: args.query });
        return { raw: { ids: data.map(({ id }) => id), total: pagination.total_items } };
      } catch (error) { return { raw: { status: error.status } }; }
    };`;
    const { status, body } = await vault.request('POST', '/reactors', {
      ...{ key: manager.key, body: { name: 'Finder', code, configuration: {}, application: { id: application.id } } },
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id as string;
  }

  it('find what the application of the reactor may find', async () => {
    const user = await vault.application({ tenantId });
    const finder = await vault.application({
      ...{ tenantId, permissions: [] },
      rules: [{ priority: 1, container: '/a/', transform: 'mask', permissions: ['token:read', 'token:search'] }],
    });
    const ids: string[] = [];
    for (const container of ['/a/', '/b/']) {
      const body = { type: 'token', data: 'value', containers: [container], search_indexes: ['{{ data }}'] };
      ids.push((await vault.request('POST', '/tokens', { key: user.key, body })).body.id as string);
    }
    const reactor = await reactorOf(finder);
    const react = async (query: string): Promise<unknown> =>
      (await vault.request('POST', `/reactors/${reactor}/react`, { key: user.key, body: { args: { query } } })).body;
    expect(await react('data:value')).to.deep.equal({ raw: { ids: [ids[0]], total: 1 } });
    expect(await react('data:other')).to.deep.equal({ raw: { ids: [], total: 0 } });
    expect(await react('value')).to.deep.equal({ raw: { status: 400 } });
  });
});
