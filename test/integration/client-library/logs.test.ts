import { BasisTheory, type BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, collect, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

describe('logs through the client library', () => {
  let vault: TestVault;
  let manager: TestApplication;
  let actor: TestApplication;
  let client: BasisTheoryClient;
  let ids: string[];

  before(async () => {
    vault = await startTestVault();
    manager = await vault.application({ type: 'management' });
    actor = await vault.application();
    client = clientOf(vault, manager.key);
    const tokens = clientOf(vault, actor.key).tokens;
    ids = [];
    for (const data of ['a', 'b', 'c', 'd', 'e']) ids.push((await tokens.create({ type: 'token', data })).id ?? '');
  });
  after(() => vault.stop());

  it('tell who did what to what, and when', async () => {
    const [log] = (await client.logs.list({ entityType: 'token', entityId: ids[0] })).data;
    expect(log).to.include({ entityType: 'token', entityId: ids[0], operation: 'create', tenantId: actor.tenantId });
    expect(log).to.include({ actorId: actor.id, actorType: 'application' });
    expect(log?.createdAt).to.be.an.instanceOf(Date);
  });

  it('are given each once, over as many pages as there are', async () => {
    const page = await client.logs.list({ entityType: 'token', size: 2 });
    expect(page.data).to.have.length(2);
    expect((await collect(page)).map(({ entityId }) => entityId)).to.deep.equal(ids.toReversed());
  });

  it('go on from a cursor, over as many pages as there are', async () => {
    const first = await vault.request('GET', '/logs?entity_type=token&size=1', { key: manager.key });
    const start = first.body.pagination.next as string;
    const rest = await client.logs.list({ entityType: 'token', size: 2, start });
    expect((await collect(rest)).map(({ entityId }) => entityId)).to.deep.equal(ids.toReversed().slice(1));
  });

  it('are narrowed by dates', async () => {
    const hour = 3_600_000;
    const between = (from: number, to: number) =>
      client.logs.list({
        entityType: 'token',
        startDate: new Date(Date.now() + from),
        endDate: new Date(Date.now() + to),
      });
    expect((await between(-hour, hour)).data).to.have.length(5);
    expect((await between(-2 * hour, -hour)).data).to.deep.equal([]);
  });

  it('have entity types with names for people', async () => {
    expect(await client.logs.getEntityTypes()).to.deep.include({ displayName: 'Token', value: 'token' });
  });

  it('are not for an application without log:read', async () => {
    await failureOf(clientOf(vault, actor.key).logs.list(), BasisTheory.ForbiddenError);
  });
});
