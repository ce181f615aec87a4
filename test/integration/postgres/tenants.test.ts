import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { insertApplication } from '../../../src/data/applications.ts';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import { claimSlot } from '../../../src/data/idempotent-answers.ts';
import { insertLogs, listLogs } from '../../../src/data/logs.ts';
import { insertReactor } from '../../../src/data/reactors.ts';
import { deleteTenant } from '../../../src/data/tenant-deletion.ts';
import { dropEmptyTokenCounts, foldTokenCounts } from '../../../src/data/token-counts.ts';
import { getTenant, upsertTenant } from '../../../src/data/tenants.ts';
import { insertTokens } from '../../../src/data/token-inserts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newApplication, newLog, newReactor, newSlot, newTenant, newToken, storedTenant } from '../../support/rows.ts';

describe('tenants in Postgres', () => {
  let test: TestDatabase;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  it('are put as declared: created, left alone, updated, each with the log entry that fits', async () => {
    const tenant = newTenant();
    const put = (overrides: Parameters<typeof newTenant>[0] = {}) =>
      upsertTenant(
        test.database,
        { ...tenant, ...overrides },
        (['create', 'update'] as const).map((operation) => newLog(tenant.id, tenant.id, { operation })),
      );
    expect(await put()).to.equal('created');
    expect(await put()).to.equal('unchanged');
    expect(await put({ quotas: { ...tenant.quotas, tokenize: 100 } })).to.equal('updated');
    expect((await getTenant(test.database, tenant.id))?.quotas.tokenize).to.equal(100);
    const logs = await listLogs(test.database, { tenantId: tenant.id, retentionSeconds: 60, limit: 10 });
    expect(logs.map(({ operation }) => operation)).to.deep.equal(['update', 'create']);
  });

  it('are read', async () => {
    const tenant = newTenant({ name: 'acme' });
    await upsertTenant(test.database, tenant, []);
    expect(await getTenant(test.database, tenant.id)).to.deep.equal(tenant);
    expect(await getTenant(test.database, randomUUID())).to.equal(undefined);
  });

  it('are deleted with everything that they have, and nothing of others', async () => {
    const [tenantId, otherId] = [await storedTenant(test.database), await storedTenant(test.database)];
    for (const id of [tenantId, otherId]) {
      await insertApplication(test.database, newApplication(id), newLog(id, 'application'));
      await insertReactor(test.database, newReactor(id), newLog(id, 'reactor'));
      await insertTokens(
        test.database,
        Array.from({ length: 7 }, () => newToken(id, { searchHashes: [Buffer.from('h')] })),
        [],
      );
      await insertLogs(test.database, [newLog(id, 'x')]);
      for (const keyHash of ['a', 'b', 'c'].map((text) => Buffer.from(text))) {
        await claimSlot(test.database, { ...newSlot(id, { keyHash }), claim: randomUUID() }, 60);
      }
      await createDataKeyStore(test.database).activate({
        ...{
          tenantId: id,
          id: randomUUID(),
          purpose: 'data',
          wrapped: 'keyring:v1:dw==',
          createdAt: new Date(),
          uses: 0,
        },
        destroyAt: null,
      });
    }
    expect(await deleteTenant(test, tenantId, 2)).to.equal(true);
    expect(await deleteTenant(test, tenantId, 2)).to.equal(false);
    await foldTokenCounts(test.database, 1_000);
    await dropEmptyTokenCounts(test.database, 1_000);
    const tables = await test.database.run<{ name: string }>({
      text: `
        select table_name as name from information_schema.columns
        where column_name = 'tenant_id' and table_schema = 'public' and table_name <> 'log_removed_tenants'`,
    });
    expect(tables.map(({ name }) => name)).to.include.members(['tokens', 'logs', 'data_keys', 'token_search_hashes']);
    for (const { name } of tables) {
      const rows = await test.database.run({ text: `select from ${name} where tenant_id = $1` }, [tenantId]);
      expect(rows, name).to.have.length(0);
    }
    expect(await test.database.run({ text: 'select from tokens where tenant_id = $1' }, [otherId])).to.have.length(7);
  });

  it('begin the primary key of every table, save those that belong to no tenant', async () => {
    const rows = await test.database.run<{ table: string; first: string }>({
      text: `
        select c.conrelid::regclass::text as "table", a.attname as first
        from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
        where c.contype = 'p' and c.connamespace = 'public'::regnamespace`,
    });
    const others = rows.filter(({ first }) => first !== 'tenant_id').map(({ table }) => table);
    const ofNoTenant = ['schema_migrations', 'master_keys', 'log_unlinked', 'log_links', 'log_heads', 'log_horizon'];
    expect(others).to.have.members(ofNoTenant);
  });
});
