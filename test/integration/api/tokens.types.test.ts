import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { TOKEN_TYPE_NAMES, type TokenTypeName } from '../../../src/domain/token-types.ts';
import { SAMPLES } from '../../support/sample-data.ts';
import { startTestVault, type TestApplication, type TestVault } from '../../support/vault.ts';

/** What each type refuses, and the property that the refusal names. */
const REFUSED: Record<TokenTypeName, [data: Json, path: string][]> = {
  token: [[null, 'data']],
  card: [
    ['4242424242424242', 'data'],
    [{}, 'data.number'],
    [{ number: 4242424242424242 }, 'data.number'],
    [{ number: '4242424242424241' }, 'data.number'],
    [{ number: '4242 4242 4242 4242' }, 'data.number'],
    [{ number: '424242424242' }, 'data.number'],
    [{ number: '42424242424242424242' }, 'data.number'],
    [{ number: '4242424242424242', expiration_month: 13 }, 'data.expiration_month'],
    [{ number: '4242424242424242', expiration_month: 0 }, 'data.expiration_month'],
    [{ number: '4242424242424242', expiration_month: '12' }, 'data.expiration_month'],
    [{ number: '4242424242424242', expiration_year: 30 }, 'data.expiration_year'],
    [{ number: '4242424242424242', expiration_year: 2030.5 }, 'data.expiration_year'],
    [{ number: '4242424242424242', cvc: '98' }, 'data.cvc'],
    [{ number: '4242424242424242', cvc: '98765' }, 'data.cvc'],
    [{ number: '4242424242424242', cvc: 987 }, 'data.cvc'],
    [{ number: '4242424242424242', pin: '98761' }, 'data'],
  ],
  bank: [
    [[], 'data'],
    [{ routing_number: '021000022', account_number: '1' }, 'data.routing_number'],
    [{ routing_number: '21000021', account_number: '1' }, 'data.routing_number'],
    [{ routing_number: '021000021' }, 'data.account_number'],
    [{ routing_number: '021000021', account_number: '' }, 'data.account_number'],
    [{ routing_number: '021000021', account_number: '123456789012345678' }, 'data.account_number'],
    [{ routing_number: '021000021', account_number: '12a' }, 'data.account_number'],
    [{ routing_number: '021000021', account_number: '1', owner: 'somebody' }, 'data'],
  ],
  card_number: [
    [{ number: '4242424242424242' }, 'data'],
    ['4242424242424241', 'data'],
    ['42424242', 'data'],
  ],
  us_bank_account_number: [
    ['12', 'data'],
    ['123456789012345678', 'data'],
    [12345, 'data'],
    ['12 345', 'data'],
  ],
  us_bank_routing_number: [
    ['021000022', 'data'],
    ['000000000', 'data'],
    ['02100002', 'data'],
  ],
  social_security_number: [
    ['12345678', 'data'],
    ['1234567890', 'data'],
    ['1234-5-6789', 'data'],
  ],
  employer_id_number: [
    ['123-456789', 'data'],
    ['12345678', 'data'],
    ['12-345678a', 'data'],
  ],
};

const ACCEPTED: [TokenTypeName, Json][] = [
  ['token', 0],
  ['token', false],
  ['token', ''],
  ['token', [1, 'two', { three: null }]],
  ['card', { number: '4222222222222' }],
  ['card', { number: '378282246310005', cvc: '1234', expiration_month: 1 }],
  ['bank', { routing_number: '011401533', account_number: '12345678901234567' }],
  ['us_bank_account_number', '123'],
  ['us_bank_account_number', '12345678901234567'],
  ['social_security_number', '123456789'],
  ['employer_id_number', '123456789'],
];

describe('token types over the API', () => {
  let vault: TestVault;
  let application: TestApplication;
  const create = (body: object) => vault.request('POST', '/tokens', { key: application.key, body });
  const count = async () => {
    const rows = await vault.database.run<{ count: number }>({ text: 'select count(*)::integer as count from tokens' });
    return rows[0]!.count;
  };

  before(async () => {
    vault = await startTestVault();
    application = await vault.application();
  });
  after(() => vault.stop());

  for (const type of TOKEN_TYPE_NAMES) {
    const { data, masked, container, fingerprinted } = SAMPLES[type];

    it(`gives a ${type} its container, mask and fingerprint`, async () => {
      const { status, body, headers } = await create({ type, data });
      expect(status).to.equal(201);
      expect(body).to.deep.include({ type, tenant_id: application.tenantId, containers: [container], metadata: {} });
      expect(body).to.have.property('fingerprint_expression', fingerprinted);
      expect(body.created_by).to.equal(application.id);
      expect(body.data).to.deep.equal(masked);
      expect(body.fingerprint).to.match(/^[\w-]{43}$/);
      expect(headers.get('location')).to.equal(`/tokens/${body.id}`);
    });

    for (const [refused, path] of REFUSED[type]) {
      it(`refuses ${JSON.stringify(refused)} as a ${type}, naming ${path} and storing nothing`, async () => {
        const before = await count();
        const { status, body } = await create({ type, data: refused });
        expect(status).to.equal(400);
        expect(body.title).to.equal('One or more validation errors occurred.');
        expect(Object.keys(body.errors)).to.deep.equal([path]);
        const secret = JSON.stringify(refused).match(/\d{5,}/)?.[0];
        if (secret !== undefined) expect(JSON.stringify(body)).not.to.contain(secret);
        expect(await count()).to.equal(before);
      });
    }
  }

  for (const [type, data] of ACCEPTED) {
    it(`takes ${JSON.stringify(data)} as a ${type}`, async () => {
      expect(await create({ type, data })).to.have.property('status', 201);
    });
  }

  it('refuses an unknown type', async () => {
    for (const type of ['cards', 'constructor', '']) {
      const { status, body } = await create({ type, data: 'x' });
      expect(status).to.equal(400);
      expect(Object.keys(body.errors)).to.deep.equal(['type']);
    }
  });

  it('fingerprints equal data alike, within one type and tenant', async () => {
    const fingerprintOf = async (body: object, key = application.key) =>
      (await vault.request('POST', '/tokens', { key, body })).body.fingerprint as string;
    const ssn = await fingerprintOf({ type: 'social_security_number', data: '987-65-4321' });
    expect(await fingerprintOf({ type: 'social_security_number', data: '987654321' })).to.equal(ssn);
    expect(await fingerprintOf({ type: 'social_security_number', data: '987654320' })).not.to.equal(ssn);
    expect(await fingerprintOf({ type: 'employer_id_number', data: '98-7654321' })).not.to.equal(ssn);
    const other = await vault.application({ tenantId: await vault.tenant() });
    expect(await fingerprintOf({ type: 'social_security_number', data: '987654321' }, other.key)).not.to.equal(ssn);
  });

  it('keeps default search indexes as keyed hashes only', async () => {
    const { body } = await create({ type: 'social_security_number', data: '222-33-4444' });
    expect(body.search_indexes).to.deep.equal(['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}']);
    const rows = await vault.database.run<{ hash: Buffer }>(
      { text: 'select hash from token_search_hashes where token_id = $1' },
      [body.id],
    );
    expect(rows).to.have.length(3);
    for (const { hash } of rows) expect(hash).to.have.length(32);
  });

  it('leaves no plaintext in any column', async () => {
    await create({
      type: 'token',
      data: 'canary-of-types',
      mask: 'mask-canary-of-types',
      search_indexes: ['{{ data }}'],
    });
    for (const table of ['tokens', 'token_cvcs', 'token_search_hashes', 'logs']) {
      const rows = await vault.database.run<{ row: string }>({ text: `select t::text as row from ${table} t` });
      const text = rows.map(({ row }) => row).join('\n');
      expect(text).not.to.contain('canary-of-types');
      expect(text).not.to.contain(Buffer.from('canary-of-types').toString('hex'));
    }
  });
});
