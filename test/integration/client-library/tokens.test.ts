import { randomUUID } from 'node:crypto';
import { BasisTheory, type BasisTheoryClient } from '@basis-theory/node-sdk';
import { expect } from 'chai';
import { clientOf, collect, failureOf } from '../../support/client-library.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
const MASKED = { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 };

describe('tokens through the client library', () => {
  let vault: TestVault;
  let application: TestApplication;
  let client: BasisTheoryClient;
  let revealing: BasisTheoryClient;

  before(async () => {
    vault = await startTestVault();
    application = await vault.application();
    client = clientOf(vault, application.key);
    const reader = await vault.application({
      rules: [{ description: 'all', priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
    });
    revealing = clientOf(vault, reader.key);
  });
  after(() => vault.stop());

  it('creates one, with every field that it has', async () => {
    const expiresAt = '2040-01-01T00:00:00.000Z';
    const id = `order-${randomUUID()}`;
    const token = await client.tokens.create({
      ...{ id, type: 'card', data: CARD, metadata: { order: '17' }, containers: ['/pci/high/eu/'], expiresAt },
      searchIndexes: ['{{ data.number | last4 }}'],
      fingerprintExpression: '{{ data.number }}',
      mask: { last4: '{{ data.number | last4 }}' },
    });
    expect(token).to.deep.include({
      ...{ id, type: 'card', tenantId: application.tenantId, createdBy: application.id },
      ...{ metadata: { order: '17' }, containers: ['/pci/high/eu/'], data: { last4: '4242' } },
      ...{ searchIndexes: ['{{ data.number | last4 }}'], fingerprintExpression: '{{ data.number }}' },
      ...{ expiresAt: new Date(expiresAt), mask: { last4: '{{ data.number | last4 }}' } },
    });
    expect(token.fingerprint).to.be.a('string').and.not.equal('');
    expect(token.createdAt).to.be.an.instanceOf(Date);
  });

  it('takes the legacy privacy setting as the container', async () => {
    const privacy = { classification: 'pci', impactLevel: 'moderate', restrictionPolicy: 'mask' };
    const { containers } = await client.tokens.create({ type: 'token', data: 'x', privacy });
    expect(containers).to.deep.equal(['/pci/moderate/']);
  });

  it('reads one as the rules of its application show it', async () => {
    const { id = '' } = await client.tokens.create({ type: 'card', data: CARD });
    expect((await client.tokens.get(id)).data).to.deep.equal(MASKED);
    expect((await revealing.tokens.get(id)).data).to.deep.equal(CARD);
  });

  it('updates one by a merge patch', async () => {
    const { id = '' } = await client.tokens.create({ type: 'card', data: CARD, metadata: { kept: 'a', changed: 'b' } });
    const token = await client.tokens.update(id, { data: { expiration_year: 2035 }, metadata: { changed: 'c' } });
    expect(token).to.deep.include({ id, metadata: { kept: 'a', changed: 'c' }, modifiedBy: application.id });
    expect(token.modifiedAt).to.be.an.instanceOf(Date);
    expect((await revealing.tokens.get(id)).data).to.deep.equal({ ...CARD, expiration_year: 2035 });
  });

  it('deletes one, after which it is not found', async () => {
    const { id = '' } = await client.tokens.create({ type: 'token', data: 'x' });
    expect(await client.tokens.delete(id)).to.equal(undefined);
    const failure = await failureOf(client.tokens.get(id), BasisTheory.NotFoundError);
    expect(failure.statusCode).to.equal(404);
  });

  it('gives an existing one instead of a duplicate', async () => {
    const data = randomUUID();
    const first = await client.tokens.create({ type: 'token', data, deduplicateToken: true });
    const second = await client.tokens.create({ type: 'token', data, deduplicateToken: true });
    expect(second.id).to.equal(first.id);
  });

  it('lists all by cursor, over as many pages as there are, each once', async () => {
    const batch = randomUUID();
    const made: (string | undefined)[] = [];
    for (let index = 0; index < 5; index += 1) {
      made.push((await client.tokens.create({ type: 'token', data: index, metadata: { batch } })).id);
    }
    const page = await client.tokens.listV2({ metadata: { batch }, size: 2 });
    expect(page.data).to.have.length(2);
    expect(page.hasNextPage()).to.equal(true);
    expect((await collect(page)).map(({ id }) => id)).to.deep.equal(made.toReversed());
    expect(page.hasNextPage()).to.equal(false);
  });

  it('narrows the list by type, container and fingerprint', async () => {
    const container = `/list/${randomUUID()}/`;
    const { fingerprint } = await client.tokens.create({ type: 'card', data: CARD, containers: [container] });
    await client.tokens.create({ type: 'token', data: 'x', containers: [container] });
    const types = async (filter: BasisTheory.TokensListV2Request): Promise<unknown[]> =>
      (await collect(await client.tokens.listV2(filter))).map(({ type }) => type);
    expect(await types({ container })).to.deep.equal(['token', 'card']);
    expect(await types({ container, type: 'card' })).to.deep.equal(['card']);
    expect(await types({ container, fingerprint })).to.deep.equal(['card']);
  });

  it('tokenizes any shape', async () => {
    const answer = await client.tokens.tokenize({ card: { type: 'card', data: CARD }, notes: ['a'] });
    const { card, notes } = answer as { card: { id: string; data: unknown }; notes: string[] };
    expect(card.data).to.deep.equal(MASKED);
    expect((await revealing.tokens.get(notes[0]!)).data).to.equal('a');
  });

  it('detokenizes expressions and lists', async () => {
    const { id = '' } = await client.tokens.create({ type: 'card', data: CARD });
    const answer = await revealing.tokens.detokenize({ number: `{{ ${id} | json: '$.number' }}`, plain: 1 });
    expect(answer).to.deep.equal({ number: CARD.number, plain: 1 });
    const { tokens } = (await revealing.tokens.detokenize({ tokens: [id] })) as { tokens: { data: unknown }[] };
    expect(tokens.map(({ data }) => data)).to.deep.equal([CARD]);
    expect((await failureOf(client.tokens.detokenize({ x: `{{ ${id} }}` }), BasisTheory.ForbiddenError)).body)
      .to.have.property('detail')
      .that.includes(id);
  });
});
