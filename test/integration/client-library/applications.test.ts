import { BasisTheory, type BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, collect, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const RULES = [
  { description: 'cards', priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
] satisfies BasisTheory.AccessRule[];

describe('applications through the client library', () => {
  let vault: TestVault;
  let manager: TestApplication;
  let client: BasisTheoryClient;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    manager = await vault.application({ type: 'management', tenantId: await vault.tenant() });
    client = clientOf(vault, manager.key);
  });

  const create = (name = 'Checkout'): PromiseLike<BasisTheory.Application> =>
    client.applications.create({ name, type: 'private', permissions: ['token:create', 'token:read'] });

  it('creates one whose key works, with every field that it has', async () => {
    const created = await client.applications.create({ name: 'Support', type: 'private', rules: RULES });
    expect(created).to.deep.include({ name: 'Support', type: 'private', rules: RULES, permissions: [] });
    expect(created).to.include({ tenantId: manager.tenantId, createdBy: manager.id });
    expect(created.createdAt).to.be.an.instanceOf(Date);
    expect(created.keys).to.have.length(1);
    expect((await clientOf(vault, created.key ?? '').tokens.listV2()).data).to.deep.equal([]);
  });

  it('creates one without a key where none is asked for', async () => {
    const permissions = ['token:create'];
    const created = await client.applications.create({ name: 'x', type: 'public', permissions, createKey: false });
    expect(created).not.to.have.property('key');
    expect(created.keys).to.deep.equal([]);
  });

  it('reads, updates and deletes one', async () => {
    const { id = '' } = await create();
    expect(await client.applications.get(id))
      .to.include({ id, name: 'Checkout' })
      .and.not.to.have.property('key');
    const updated = await client.applications.update(id, { name: 'Till', permissions: ['token:create'], rules: [] });
    expect(updated).to.deep.include({ id, name: 'Till', permissions: ['token:create'], modifiedBy: manager.id });
    expect(await client.applications.delete(id)).to.equal(undefined);
    await failureOf(client.applications.get(id), BasisTheory.NotFoundError);
  });

  it('reads the one that its key belongs to', async () => {
    expect(await client.applications.getByKey()).to.include({ id: manager.id, type: 'management' });
  });

  it('lists all by page, over as many pages as there are, each once', async () => {
    const made: unknown[] = [];
    for (const name of ['a', 'b', 'c', 'd']) made.push((await create(name)).id);
    const page = await client.applications.list({ size: 2 });
    expect(page.data).to.have.length(2);
    expect((await collect(page)).map(({ id }) => id))
      .to.have.members([...made, manager.id])
      .and.have.length(5);
  });

  it('narrows the list by ids and types', async () => {
    const ids = [(await create('a')).id ?? '', (await create('b')).id ?? ''];
    await create('c');
    const listed = await collect(await client.applications.list({ id: ids, type: ['private', 'public'] }));
    expect(listed.map(({ id }) => id))
      .to.have.members(ids)
      .and.have.length(2);
    expect((await client.applications.list({ type: 'management' })).data.map(({ id }) => id)).to.deep.equal([
      manager.id,
    ]);
  });

  it('creates, reads and deletes keys, each of which works until then', async () => {
    const { id = '', keys = [] } = await create();
    const made = await client.applicationKeys.create(id);
    expect(made).to.include({ createdBy: manager.id });
    expect(made.createdAt).to.be.an.instanceOf(Date);
    expect(await client.applicationKeys.get(id, made.id ?? ''))
      .to.include({ id: made.id })
      .and.not.to.have.property('key');
    expect((await client.applications.get(id)).keys?.map((key) => key.id)).to.have.members([keys[0]?.id, made.id]);

    const withKey = clientOf(vault, made.key ?? '');
    expect((await withKey.tokens.create({ type: 'token', data: 'x' })).createdBy).to.equal(id);
    await client.applicationKeys.delete(id, made.id ?? '');
    await failureOf(withKey.tokens.listV2(), BasisTheory.UnauthorizedError);
    await failureOf(client.applicationKeys.get(id, made.id ?? ''), BasisTheory.NotFoundError);
  });

  it('cannot read the list of keys, which is an envelope by the interface and an array to this client', async () => {
    const { id = '' } = await create();
    await failureOf(client.applicationKeys.list(id), Error);
  });

  it('lists permissions, all or those of one application type', async () => {
    const all = await client.permissions.list();
    expect(all.map(({ type }) => type)).to.include.members(['token:create', 'application:read', 'log:read']);
    const [publicOnes] = [await client.permissions.list({ applicationType: 'public' })];
    expect(publicOnes.map(({ type }) => type)).to.have.members(['token:create', 'token:update']);
    expect(publicOnes[0]?.applicationTypes).to.include('public');
    expect(publicOnes[0]?.description).to.be.a('string').and.not.equal('');
  });

  it('lists templates, of which each makes an application', async () => {
    const templates = await client.applicationTemplates.list();
    expect(templates).not.to.deep.equal([]);
    for (const { id = '', name = '', applicationType = '', permissions, rules } of templates) {
      expect(await client.applicationTemplates.get(id)).to.deep.include({ id, name, applicationType });
      const created = await client.applications.create({ name, type: applicationType, permissions, rules });
      expect(created, name).to.include({ name, type: applicationType });
    }
  });
});
