import { randomUUID } from 'node:crypto';
import { BasisTheory, type BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, collect, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

describe('token search through the client library', () => {
  let vault: TestVault;
  let client: BasisTheoryClient;

  before(async () => {
    vault = await startTestVault();
    client = clientOf(vault, (await vault.application()).key);
  });
  after(() => vault.stop());

  it('finds what was just written, by data, metadata and type', async () => {
    const order = randomUUID();
    const data = '123-45-6789';
    const { id } = await client.tokens.create({ type: 'social_security_number', data, metadata: { order } });
    for (const query of [`data:${data} AND metadata.order:"${order}"`, `metadata.order:${order} AND NOT type:card`]) {
      const page = await client.tokens.searchV2({ query });
      expect(
        page.data.map((token) => token.id),
        query,
      ).to.deep.equal([id]);
      expect(page.data[0]).to.include({ data: 'XXX-XX-6789' });
    }
  });

  it('gives every match once, over as many pages as there are', async () => {
    const batch = randomUUID();
    const made: (string | undefined)[] = [];
    for (let index = 0; index < 5; index += 1) {
      made.push((await client.tokens.create({ type: 'token', data: index, metadata: { batch } })).id);
    }
    const page = await client.tokens.searchV2({ query: `metadata.batch:${batch}`, size: 2 });
    expect(page.data).to.have.length(2);
    expect((await collect(page)).map(({ id }) => id))
      .to.have.members(made)
      .and.have.length(5);
  });

  it('says what is wrong with a query', async () => {
    const failure = await failureOf(client.tokens.searchV2({ query: 'data:(' }), BasisTheory.BadRequestError);
    expect(failure.body).to.have.nested.property('errors.query');
  });
});
