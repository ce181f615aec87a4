import { BasisTheory, type BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, collect, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CODE = `
  module.exports = async ({ args, configuration }) => ({
    raw: { last4: args.card.number.slice(-4), greeting: configuration.GREETING },
    tokenize: { receipt: 'paid ' + args.card.number },
  });`;

describe('reactors through the client library', () => {
  let vault: TestVault;
  let manager: TestApplication;
  let client: BasisTheoryClient;
  let user: BasisTheoryClient;

  before(async () => {
    vault = await startTestVault({ reactors: true });
    manager = await vault.application({ type: 'management' });
    client = clientOf(vault, manager.key);
    user = clientOf(vault, (await vault.application()).key);
  });
  after(() => vault.stop());

  it('creates one, with every field that it has', async () => {
    const { id } = await vault.application();
    const reactor = { name: 'Charge', code: CODE, configuration: { GREETING: 'hello' }, application: { id } };
    const created = await client.reactors.create(reactor);
    expect(created).to.deep.include({ ...reactor, tenantId: manager.tenantId, createdBy: manager.id });
    expect(created.createdAt).to.be.an.instanceOf(Date);
  });

  it('reads, updates, patches and deletes one', async () => {
    const { id = '' } = await client.reactors.create({ name: 'a', code: CODE, configuration: {} });
    const updated = await client.reactors.update(id, { name: 'b', code: CODE, configuration: { A: '1', B: '2' } });
    expect(updated).to.deep.include({ id, name: 'b', configuration: { A: '1', B: '2' }, modifiedBy: manager.id });
    expect(await client.reactors.patch(id, { name: 'c', configuration: { B: '3' } })).to.equal(undefined);
    const read = await client.reactors.get(id);
    expect(read).to.deep.include({ id, name: 'c', code: CODE, configuration: { A: '1', B: '3' } });
    expect(await client.reactors.delete(id)).to.equal(undefined);
    await failureOf(client.reactors.get(id), BasisTheory.NotFoundError);
  });

  it('lists all by page and name, over as many pages as there are', async () => {
    const made: unknown[] = [];
    for (const name of ['list 1', 'list 2', 'list 3']) {
      made.push((await client.reactors.create({ name, code: CODE, configuration: {} })).id);
    }
    const page = await client.reactors.list({ name: 'list*', size: 2 });
    expect(page.data).to.have.length(2);
    expect((await collect(page)).map(({ id }) => id))
      .to.have.members(made)
      .and.have.length(3);
  });

  it('runs one on the data of a token', async () => {
    const configuration = { GREETING: 'hello' };
    const { id = '' } = await client.reactors.create({ name: 'Charge', code: CODE, configuration });
    const token = await user.tokens.create({ type: 'card', data: { number: '4242424242424242' } });
    const { raw, tokens } = await user.reactors.react(id, { args: { card: `{{ ${token.id} }}` } });
    expect(raw).to.deep.equal({ last4: '4242', greeting: 'hello' });
    expect(await user.tokens.get((tokens as { receipt: string }).receipt)).to.include({ type: 'token' });
  });

  it('tells a failure of the code as what it is', async () => {
    const code = "module.exports = async () => { throw new BadRequestError('no such country'); };";
    const { id = '' } = await client.reactors.create({ name: 'x', code, configuration: {} });
    const failure = await failureOf(user.reactors.react(id, {}), BasisTheory.BadRequestError);
    expect(failure.body).to.have.nested.property('errors.error').that.deep.equals(['no such country']);
  });

  it('is told that code does not compile', async () => {
    const call = client.reactors.create({ name: 'x', code: 'module.exports = (', configuration: {} });
    const failure = await failureOf(call, Error);
    expect(failure).to.include({ statusCode: 422 });
  });
});
