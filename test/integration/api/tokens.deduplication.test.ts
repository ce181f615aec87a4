import { expect } from 'chai';
import { DEFAULT_SETTINGS } from '../../../src/domain/tenants.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const CARD = { type: 'card', data: { number: '4242424242424242', cvc: '987' }, metadata: { owner: 'somebody' } };

describe('deduplication of tokens over the API', () => {
  let vault: TestVault;
  let tenantId: string;
  let application: TestApplication;
  const create = (body: object, key = application.key) => vault.request('POST', '/tokens', { key, body });

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenantId = await vault.tenant();
    application = await vault.application({ tenantId });
  });

  it('answers 200 and the token that is there, masked', async () => {
    const first = await create({ ...CARD, deduplicate_token: true });
    const second = await create({ ...CARD, deduplicate_token: true, metadata: { owner: 'another' }, id: 'another' });
    expect([first.status, second.status]).to.deep.equal([201, 200]);
    expect(second.headers.get('location')).to.equal(null);
    expect(second.body).to.deep.equal(first.body);
    expect(second.body.data).to.deep.equal({
      number: 'XXXXXXXXXXXX4242',
      expiration_month: null,
      expiration_year: null,
    });
  });

  it('happens only where it is asked for', async () => {
    const first = await create(CARD);
    expect((await create(CARD)).status).to.equal(201);
    const { status, body } = await create({ ...CARD, deduplicate_token: true });
    expect([status, body.id]).to.deep.equal([200, first.body.id]);
  });

  it('tells a caller who may not read the token no more than that it is there', async () => {
    const { body: existing } = await create(CARD);
    const collector = await vault.application({ tenantId, type: 'public' });
    const { status, body } = await create({ ...CARD, deduplicate_token: true }, collector.key);
    expect(status).to.equal(200);
    const { id, type, tenant_id, fingerprint, containers } = existing;
    expect(body).to.deep.equal({ id, type, tenant_id, fingerprint, containers });
  });

  it('follows the rules for reading of the container in which the token is', async () => {
    const { body: existing } = await create({ ...CARD, containers: ['/secret/'] });
    const rule = (container: string, transform: 'reveal' | 'redact') => ({
      ...{ priority: container.length, container, transform },
      permissions: ['token:create' as const, 'token:read' as const],
    });
    const body = { ...CARD, deduplicate_token: true, containers: ['/open/'] };
    const elsewhere = await vault.application({ tenantId, rules: [rule('/open/', 'reveal')] });
    expect((await create(body, elsewhere.key)).body).not.to.have.any.keys('data', 'metadata', 'mask');
    const redacted = await vault.application({
      tenantId,
      rules: [rule('/open/', 'reveal'), rule('/secret/', 'redact')],
    });
    const shown = await create(body, redacted.key);
    expect(shown.body).to.deep.include({ id: existing.id, metadata: CARD.metadata });
    expect(shown.body).not.to.have.property('data');
    const revealed = await vault.application({ tenantId, rules: [rule('/', 'reveal')] });
    expect((await create(body, revealed.key)).body.data.number).to.equal('XXXXXXXXXXXX4242');
  });

  it('logs that the existing token was read', async () => {
    const { body } = await create({ ...CARD, deduplicate_token: true });
    await create({ ...CARD, deduplicate_token: true });
    const rows = await vault.database.run<{ operation: string }>(
      { text: 'select operation from logs where entity_id = $1 order by created_at, log_id' },
      [body.id],
    );
    expect(rows.map(({ operation }) => operation)).to.deep.equal(['create', 'read']);
  });

  it('gives 50 requests at the same time one token', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => create({ ...CARD, deduplicate_token: true })));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(49);
    expect(new Set(answers.map(({ body }) => body.id as string)).size).to.equal(1);
  });

  it('gives 20 payloads at the same time one token for each value, in whatever order they come', async () => {
    const values = ['one', 'two', 'three'].map((data) => ({ type: 'token', data, deduplicate_token: true }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const body = index % 2 === 0 ? values : [...values].reverse();
        return vault.request('POST', '/tokenize', { key: application.key, body });
      }),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    const ids = answers.flatMap(({ body }) => (body as { id: string }[]).map(({ id }) => id));
    expect(new Set(ids).size).to.equal(3);
  });

  it('compares fingerprints of one type and tenant, under the expression that was given', async () => {
    const email = { type: 'token', fingerprint_expression: '{{ data.email }}', deduplicate_token: true };
    const { body } = await create({ ...email, data: { email: 'a@b.c', name: 'one' } });
    expect((await create({ ...email, data: { email: 'a@b.c', name: 'two' } })).body.id).to.equal(body.id);
    expect((await create({ ...email, data: { email: 'b@b.c' } })).status).to.equal(201);
    const number = { data: '4242424242424242', deduplicate_token: true };
    await create({ ...number, type: 'card_number' });
    expect((await create({ ...number, type: 'token' })).status).to.equal(201);
    const other = await vault.application({ tenantId: await vault.tenant() });
    expect((await create({ ...number, type: 'card_number' }, other.key)).status).to.equal(201);
  });

  it('is the default of a tenant that says so, and can be turned off for one token', async () => {
    tenantId = await vault.tenant({ settings: { ...DEFAULT_SETTINGS, deduplicateTokens: true } });
    application = await vault.application({ tenantId });
    await create(CARD);
    expect((await create(CARD)).status).to.equal(200);
    expect((await create({ ...CARD, deduplicate_token: false })).status).to.equal(201);
  });

  it('does nothing in a tenant without fingerprints', async () => {
    tenantId = await vault.tenant({ settings: { deduplicateTokens: true, fingerprintTokens: false } });
    application = await vault.application({ tenantId });
    const answers = [await create(CARD), await create({ ...CARD, deduplicate_token: true })];
    for (const { status, body } of answers) {
      expect(status).to.equal(201);
      expect(body).not.to.have.property('fingerprint');
    }
  });
});
