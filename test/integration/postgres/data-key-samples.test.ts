import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sampleDataKeys } from '../../../src/data/data-key-samples.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

describe('samples of data keys', () => {
  let test: TestDatabase;

  beforeEach(async () => {
    test = await createTestDatabase();
  });
  afterEach(() => test.dispose());

  async function tenantWith(count: number, purpose = 'data'): Promise<string> {
    const tenantId = await storedTenant(test.database);
    for (let made = 0; made < count; made++) {
      const text = `
        insert into data_keys (tenant_id, data_key_id, purpose, wrapped, active, uses, created_at)
        values ($1, gen_random_uuid(), $2, $3, false, 0, now())`;
      await test.database.run({ text }, [tenantId, purpose, `keyring:v1:${randomUUID()}`]);
    }
    return tenantId;
  }
  async function sampledTenants(): Promise<string[]> {
    return (await sampleDataKeys(test.maintenance)).map(({ tenantId }) => tenantId);
  }

  it('are of as many tenants as there are, up to eight, whoever came first', async () => {
    const tenants = [await tenantWith(20), await tenantWith(1), await tenantWith(3)];
    expect(new Set(await sampledTenants())).to.deep.equal(new Set(tenants));
    for (let more = 0; more < 9; more++) await tenantWith(2);
    const sampled = await sampledTenants();
    expect(sampled).to.have.length(8);
    expect(new Set(sampled)).to.have.property('size', 8);
  });

  it('are of other tenants from time to time', async () => {
    for (let made = 0; made < 24; made++) await tenantWith(1);
    const seen = new Set<string>();
    // Each starts anywhere: that 200 of them leave one out does not happen.
    for (let times = 0; times < 200; times++) for (const id of await sampledTenants()) seen.add(id);
    expect(seen).to.have.property('size', 24);
  });

  it('are several of the one tenant there is, since any may have been altered', async () => {
    await tenantWith(12);
    const ids = (await sampleDataKeys(test.maintenance)).map(({ id }) => id);
    expect(ids).to.have.length(8);
    expect(new Set(ids)).to.have.property('size', 8);
  });

  it('are none of card verification codes, and none where there are none', async () => {
    expect(await sampledTenants()).to.deep.equal([]);
    await tenantWith(2, 'cvc');
    expect(await sampledTenants()).to.deep.equal([]);
  });
});
