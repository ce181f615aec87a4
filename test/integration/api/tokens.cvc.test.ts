import { expect } from 'chai';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

const NUMBER = '4242424242424242';

describe('card verification codes', () => {
  let vault: TestVault;
  let application: TestApplication;
  let revealing: TestApplication;

  async function applicationsOf(tenantId: string): Promise<void> {
    application = await vault.application({ tenantId });
    const permissions = ['token:create' as const, 'token:read' as const, 'token:update' as const];
    const rules = [{ priority: 1, container: '/', transform: 'reveal' as const, permissions }];
    revealing = await vault.application({ tenantId, rules });
  }

  const create = async (more: object = {}) => {
    const data = { number: NUMBER, cvc: '987' };
    const answer = await vault.request('POST', '/tokens', {
      key: application.key,
      body: { type: 'card', data, ...more },
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const reveal = async (id: string) => (await vault.request('GET', `/tokens/${id}`, { key: revealing.key })).body.data;
  const patch = async (id: string, data: object) =>
    (await vault.request('PATCH', `/tokens/${id}`, { key: revealing.key, body: { data } })).body.data;

  before(async () => {
    vault = await startTestVault();
  });
  after(() => vault.stop());
  beforeEach(async () => applicationsOf(await vault.tenant()));

  it('are shown where the card is revealed, and never through a mask', async () => {
    const { id, data } = await create();
    expect(data).not.to.have.property('cvc');
    expect(await reveal(id)).to.deep.equal({ number: NUMBER, cvc: '987' });
    const masked = await vault.request('GET', `/tokens/${id}`, { key: application.key });
    expect(masked.body.data).not.to.have.property('cvc');
  });

  it('are hidden from every expression of the token', async () => {
    const mask = { code: '{{ data.cvc }}', length: '{{ data | stringify | size }}' };
    const { data } = await create({ mask });
    expect(data).to.deep.equal({ code: null, length: JSON.stringify({ number: NUMBER }).length });
    for (const hidden of [{ search_indexes: ['{{ data.cvc }}'] }, { id: 'x{{ data.cvc }}' }]) {
      const body = { type: 'card', data: { number: NUMBER, cvc: '987' }, ...hidden };
      const answer = await vault.request('POST', '/tokens', { key: application.key, body });
      expect(answer.status).to.equal(400);
    }
  });

  it('make no difference to the fingerprint', async () => {
    const { fingerprint } = await create({ fingerprint_expression: '{{ data | stringify }}' });
    const data = { number: NUMBER, cvc: '123' };
    expect(await create({ fingerprint_expression: '{{ data | stringify }}', data })).to.deep.include({ fingerprint });
  });

  it('are never stored for a tenant that keeps none', async () => {
    await applicationsOf(await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, cvcRetentionSeconds: 0 } }));
    const { id } = await create();
    await patch(id, { cvc: '123' });
    const codes = { text: 'select from token_cvcs where token_id = $1' };
    expect(await vault.database.run(codes, [id])).to.have.length(0);
    expect(await reveal(id)).to.deep.equal({ number: NUMBER });
  });

  it('lie in a table of their own, under keys of their own', async () => {
    const { id } = await create();
    const [row] = await vault.database.run<{ cvc: Buffer; data: Buffer }>(
      { text: 'select cvc, data from tokens join token_cvcs using (tenant_id, token_id) where token_id = $1' },
      [id],
    );
    const keyIdOf = (sealed: Buffer) => sealed.toString('hex', 1, 17);
    const keys = await vault.database.run<{ id: string; purpose: string }>({
      text: "select replace(data_key_id::text, '-', '') as id, purpose from data_keys where destroy_at is not null",
    });
    expect(keys.find(({ id: keyId }) => keyId === keyIdOf(row!.cvc))).to.have.property('purpose', 'cvc');
    expect(keyIdOf(row!.data)).not.to.equal(keyIdOf(row!.cvc));
  });

  it('stay, are replaced, and are removed by a patch', async () => {
    const { id } = await create();
    const retention = async () =>
      (
        await vault.database.run<{ until: Date }>(
          { text: 'select expires_at as until from token_cvcs where token_id = $1' },
          [id],
        )
      )[0];
    const until = await retention();
    expect(await patch(id, { expiration_month: 5 })).to.deep.equal({ number: NUMBER, expiration_month: 5, cvc: '987' });
    expect(await retention()).to.deep.equal(until);
    expect(await patch(id, { cvc: '123' })).to.have.property('cvc', '123');
    expect((await retention())!.until.getTime()).to.be.at.least(until!.until.getTime());
    expect(await reveal(id)).to.have.property('cvc', '123');
    expect(await patch(id, { cvc: null })).not.to.have.property('cvc');
    expect(await retention()).to.equal(undefined);
    expect(await reveal(id)).to.deep.equal({ number: NUMBER, expiration_month: 5 });
    expect(await patch(id, { cvc: '456' })).to.have.property('cvc', '456');
  });

  it('are gone for readers once their retention has passed, while the card stays', async () => {
    await applicationsOf(await vault.tenant({ quotas: { ...DEFAULT_QUOTAS, cvcRetentionSeconds: 1 } }));
    const { id } = await create();
    await eventually(async () => expect(await reveal(id)).to.deep.equal({ number: NUMBER }), { everyMs: 50 });
    expect(await patch(id, { expiration_month: 5 })).to.deep.equal({ number: NUMBER, expiration_month: 5 });
    const detokenized = await vault.request('POST', '/detokenize', { key: revealing.key, body: { a: `{{ ${id} }}` } });
    expect(detokenized.body).to.deep.equal({ a: { number: NUMBER, expiration_month: 5 } });
  });
});
