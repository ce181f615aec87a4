import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SEALED_COLUMNS, type SealedColumnName } from '../../support/sealed-columns.ts';
import {
  claimsOf,
  IDEMPOTENCY_KEYS,
  newCard,
  putSealed,
  reactorCode,
  REACTOR_IDS,
  readThrough,
  refusalOf,
  rowIdOf,
  sealedIn,
  sealedTenant,
  type SealedTenant,
  sendKeyed,
  TOKEN_IDS,
} from '../../support/sealed-vault.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const TOKEN = `/tokens/${TOKEN_IDS[0]}`;

describe('a sealed value of an earlier state of its row', function () {
  this.timeout(120_000);

  let vault: TestVault;
  let tenant: SealedTenant;

  before(async () => {
    vault = await startTestVault({ reactors: true });
  });
  after(() => vault.stop());
  beforeEach(async () => {
    tenant = await sealedTenant(vault);
  });

  async function send(status: number, method: string, path: string, body?: object): Promise<void> {
    const key = path.startsWith('/reactors') ? tenant.adminKey : tenant.key;
    const answer = await vault.request(method, path, { key, ...(body ? { body } : {}) });
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(status);
  }

  const statusOf = async (name: SealedColumnName): Promise<number> => (await readThrough(vault, name, tenant)).status;

  async function valuesOf(names: readonly SealedColumnName[]): Promise<Map<SealedColumnName, Buffer>> {
    const values = new Map<SealedColumnName, Buffer>();
    for (const name of names) values.set(name, await sealedIn(vault, name, tenant));
    return values;
  }

  /** Puts earlier values back, one by one and then all, into the row as it has become. */
  async function expectNotPutBack(earlier: ReadonlyMap<SealedColumnName, Buffer>): Promise<void> {
    const names = [...earlier.keys()];
    const now = await valuesOf(names);
    for (const name of names) {
      expect(now.get(name)).not.to.deep.equal(earlier.get(name));
      await putSealed(vault, name, tenant, earlier.get(name)!);
      expect(await statusOf(name), name).to.equal(refusalOf(name));
      await putSealed(vault, name, tenant, now.get(name)!);
      expect(await statusOf(name), name).to.be.oneOf([200, 201]);
    }
    for (const name of names) await putSealed(vault, name, tenant, earlier.get(name)!);
    for (const name of names) expect(await statusOf(name), `${name}, with all others`).to.equal(refusalOf(name));
  }

  for (const [what, patch] of Object.entries({
    'its data': { data: { number: newCard().number } },
    'its mask': { mask: '{{ data.number | card_bin }}' },
    'metadata alone': { metadata: { note: 'n' } },
  })) {
    it(`is refused in a token since updated in ${what}`, async () => {
      const earlier = await valuesOf(['data', 'mask']);
      await send(200, 'PATCH', TOKEN, patch);
      await expectNotPutBack(earlier);
    });
  }

  it('is refused in a token whose code was replaced', async () => {
    const earlier = await valuesOf(['cvc']);
    await send(200, 'PATCH', TOKEN, { data: { cvc: '9999' } });
    await expectNotPutBack(earlier);
  });

  it('goes on opening where only the token beside it was updated: a code that stays', async () => {
    await send(200, 'PATCH', TOKEN, { metadata: { note: 'n' } });
    expect((await readThrough(vault, 'cvc', tenant)).body.data.cvc).to.match(/^\d{3}$/);
  });

  it('is refused in a later token of the same id', async () => {
    const earlier = await valuesOf(['data', 'mask', 'cvc']);
    await send(204, 'DELETE', TOKEN);
    const mask = '{{ data.number | last4 }}';
    await send(201, 'POST', '/tokens', { id: TOKEN_IDS[0], type: 'card', data: newCard(), mask });
    await expectNotPutBack(earlier);
  });

  it('is refused in a reactor since changed, in code or configuration', async () => {
    const earlier = await valuesOf(['code', 'configuration']);
    await send(204, 'PATCH', `/reactors/${REACTOR_IDS[0]}`, { configuration: { A: 'new' } });
    await expectNotPutBack(earlier);
    const code = reactorCode('new');
    await send(200, 'PUT', `/reactors/${REACTOR_IDS[0]}`, { name: 'n', code, configuration: {} });
    await expectNotPutBack(earlier);
  });

  it('is refused under an idempotency key that has been used again', async () => {
    const earlier = await valuesOf(['answer']);
    const text = 'update idempotent_answers set expires_at = now() where claim = $1';
    await vault.database.run({ text }, [tenant.claims[0]]);
    expect((await sendKeyed(vault, tenant.creator, IDEMPOTENCY_KEYS[0])).status).to.equal(201);
    const claims = await claimsOf(vault, tenant.creator.id);
    tenant = { ...tenant, claims: claims.filter((claim) => claim !== tenant.claims[1]) };
    expect(tenant.claims).to.have.length(1);
    await expectNotPutBack(earlier);
  });

  // What decides who sees a value, and for how long, is not sealed: changed, it takes the value with it.
  for (const [name, column, value] of [
    ['data', 'container', `'/mine/'`],
    ['data', 'type', `'token'`],
    ['data', 'expires_at', `now() + interval '1 year'`],
    ['data', 'version', 'version + 1'],
    ['data', 'created_at', `created_at + interval '1 ms'`],
    ['cvc', 'expires_at', `expires_at + interval '1 ms'`],
    ['code', 'revision', `'0123456789abcdef'`],
    ['answer', 'claim', `'${randomUUID()}'`],
  ] as const) {
    it(`is refused where the ${column} of ${SEALED_COLUMNS[name].table} was changed in the database`, async () => {
      const { table, rowKey } = SEALED_COLUMNS[name];
      const text = `update ${table} set ${column} = ${value} where tenant_id = $1 and ${rowKey}::text = $2`;
      await vault.database.run({ text }, [tenant.tenantId, rowIdOf(name, tenant)]);
      expect(await statusOf(name)).to.equal(refusalOf(name));
    });
  }

  it('of the first format, which binds no version, is told from it by every row that was written since', async () => {
    const tables = [...new Set(Object.values(SEALED_COLUMNS).map(({ table }) => table))];
    for (const table of tables) {
      const rows = await vault.database.run<{ format: number }>({
        text: `select distinct sealed_format as format from ${table}`,
      });
      expect(rows, table).to.deep.equal([{ format: 2 }]);
    }
  });

  it('finds nothing by a fingerprint or a search index that was copied from another tenant', async () => {
    const other = await sealedTenant(vault);
    const body = { type: 'token', data: 'secret', search_indexes: ['{{ data }}'], deduplicate_token: true };
    const created = await vault.request('POST', '/tokens', { key: other.key, body });
    const target = TOKEN_IDS[1];
    await vault.database.run(
      {
        text: `
          with copied as (
            insert into token_search_hashes (tenant_id, token_id, hash)
            select $1, $2, hash from token_search_hashes where tenant_id = $3 and token_id = $4
          )
          update tokens set type = 'token', fingerprint = (
            select fingerprint from tokens where tenant_id = $3 and token_id = $4
          ) where tenant_id = $1 and token_id = $2`,
      },
      [tenant.tenantId, target, other.tenantId, created.body.id],
    );
    const query = { query: 'data:secret' };
    const searched = await vault.request('POST', '/v2/tokens/search', { key: tenant.key, body: query });
    expect(searched.body.data).to.deep.equal([]);
    const found = await vault.request('POST', '/v2/tokens/search', { key: other.key, body: query });
    expect(found.body.data).to.have.length(1);
    const mine = await vault.request('POST', '/tokens', { key: tenant.key, body });
    expect(mine.status).to.equal(201);
    expect(mine.body.fingerprint).not.to.equal(created.body.fingerprint);
  });
});
