import { expect } from 'chai';
import { type DatabaseSession, openDatabaseSession } from '../../support/database-session.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type StoredRows, storeRowInEachTable } from '../../support/stored-rows.ts';

/** Why a table has no rows of a tenant, or none that the API may ever see. A new table stands here or has a policy. */
const OF_NO_TENANT: Record<string, string> = {
  schema_migrations: 'which migrations were applied',
  master_keys: 'versions of keys that wrap the data keys of all tenants',
  log_horizon: 'one time, for the whole log',
  log_unlinked: 'ids of entries, for the sweeper alone',
  log_links: 'ids and hashes of entries, for the sweeper alone',
  log_heads: 'hashes, for the sweeper alone',
  log_removed_tenants: 'ids of tenants that are gone, for the sweeper alone',
};

const REFUSED = '42501';

interface Table {
  name: string;
  isPartition: boolean;
  hasTenant: boolean;
  hasPolicies: boolean;
  /** Those that an insert may give. */
  columns: string[];
}

const TABLES = `
  select c.relname as name, c.relispartition as "isPartition", c.relrowsecurity as "hasPolicies",
    exists (select from pg_attribute where attrelid = c.oid and attname = 'tenant_id') as "hasTenant",
    array(
      select quote_ident(attname) from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
    ) as columns
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
  order by c.relname`;

describe('row-level security', () => {
  let test: TestDatabase;
  let api: DatabaseSession;
  let tables: Table[];
  let own: StoredRows;
  let foreign: StoredRows;

  before(async () => {
    test = await createTestDatabase();
    [own, foreign] = [await storeRowInEachTable(test.database), await storeRowInEachTable(test.database)];
    tables = await test.database.run<Table>({ text: TABLES });
    api = await openDatabaseSession(test.apiConnectionString);
  });
  after(async () => {
    await api.end();
    await test.dispose();
  });
  beforeEach(() => api.enter(own.tenantId));

  const protectedTables = (): Table[] =>
    tables.filter(({ name, isPartition }) => !isPartition && !(name in OF_NO_TENANT));

  async function rowsOf(table: string, tenantId: string): Promise<unknown[]> {
    const rows = await test.database.run<{ row: unknown }>(
      { text: `select to_jsonb(t) as row from ${table} t where tenant_id = $1 order by t::text` },
      [tenantId],
    );
    return rows.map(({ row }) => row);
  }

  it('is in force for every table that has rows of a tenant', () => {
    const without = tables.filter(
      ({ name, isPartition, hasPolicies }) => !isPartition && !hasPolicies && !(name in OF_NO_TENANT),
    );
    expect(without.map(({ name }) => name)).to.deep.equal([]);
    expect(protectedTables().filter(({ hasTenant }) => !hasTenant)).to.deep.equal([]);
    expect(protectedTables()).to.have.length.at.least(13);
  });

  it('shows the rows of the tenant in scope, and none of another, in any table', async () => {
    for (const { name } of protectedTables()) {
      expect(await rowsOf(name, foreign.tenantId), `rows of ${name} to look for`).not.to.have.length(0);
      const seen = await api.query<{ tenant: string }>(`select distinct tenant_id as tenant from ${name}`);
      const visible = (await rowsOf(name, own.tenantId)).length === 0 ? [] : [{ tenant: own.tenantId }];
      expect(seen, name).to.deep.equal(visible);
      expect(await api.outcome(`select from ${name} where tenant_id = $1`, [foreign.tenantId]), name).to.equal(0);
      expect(await api.outcome(`select from ${name} where tenant_id <> $1`, [own.tenantId]), name).to.equal(0);
    }
  });

  it('shows nothing outside of any scope', async () => {
    const fresh = await openDatabaseSession(test.apiConnectionString);
    try {
      for (const { name } of protectedTables()) {
        expect(await fresh.outcome(`select from ${name}`), name).to.equal(0);
      }
      await fresh.enter('');
      for (const { name } of protectedTables()) expect(await fresh.outcome(`select from ${name}`), name).to.equal(0);
    } finally {
      await fresh.end();
    }
  });

  for (const [name, statement] of [
    ['updated', 'update % set tenant_id = tenant_id'],
    ['deleted', 'delete from %'],
    ['locked', 'select from % for update'],
  ] as const) {
    it(`lets no row of another tenant be ${name}, named or not`, async () => {
      for (const { name: table } of protectedTables()) {
        const before = await rowsOf(table, foreign.tenantId);
        const onAll = statement.replace('%', table);
        const onForeign = onAll.includes(' for update')
          ? onAll.replace(' for update', ' where tenant_id = $1 for update')
          : `${onAll} where tenant_id = $1`;
        expect(await api.outcome(onForeign, [foreign.tenantId]), table).to.be.oneOf([0, REFUSED]);
        // Taken back: the rows of the tenant itself may go.
        await api.query('begin');
        await api.outcome(onAll);
        await api.query('rollback');
        expect(await rowsOf(table, foreign.tenantId), table).to.deep.equal(before);
      }
    });
  }

  it('lets no row be inserted for another tenant, or moved to one', async () => {
    for (const { name, columns } of protectedTables()) {
      const [row] = await rowsOf(name, foreign.tenantId);
      const list = columns.join(', ');
      const insert = `insert into ${name} (${list}) select ${list} from jsonb_populate_record(null::${name}, $1)`;
      expect(await api.outcome(insert, [JSON.stringify(row)]), name).to.equal(REFUSED);
      expect(await api.outcome(`${insert} on conflict do nothing`, [JSON.stringify(row)]), name).to.equal(REFUSED);
      const move = `update ${name} set tenant_id = $1`;
      expect(await api.outcome(move, [foreign.tenantId]), name).to.equal(REFUSED);
    }
  });

  it('keeps the API from every table that is of no tenant, save for reading which schema it is', async () => {
    for (const name of Object.keys(OF_NO_TENANT)) {
      const readable = ['schema_migrations', 'master_keys'].includes(name);
      if (!readable) expect(await api.outcome(`select from ${name}`), name).to.equal(REFUSED);
      expect(await api.outcome(`delete from ${name}`), name).to.equal(REFUSED);
    }
  });

  it('is not walked around by partitions, which nobody but the owner may use', async () => {
    const partitions = tables.filter(({ isPartition }) => isPartition);
    expect(partitions).to.have.length.at.least(4);
    const sweeper = await openDatabaseSession(test.sweeperConnectionString);
    try {
      for (const { name } of partitions) {
        for (const statement of [`select from ${name}`, `delete from ${name}`, `update ${name} set message = ''`]) {
          expect(await api.outcome(statement), statement).to.equal(REFUSED);
          expect(await sweeper.outcome(statement), statement).to.equal(REFUSED);
        }
      }
    } finally {
      await sweeper.end();
    }
  });

  it('covers partitions that are made later', async () => {
    await test.maintenance.run({ text: 'select make_log_partitions(9)' });
    const later = (await test.database.run<Table>({ text: TABLES })).filter(
      ({ name }) => !tables.some((table) => table.name === name),
    );
    expect(later).to.have.length.at.least(5);
    for (const { name } of later) expect(await api.outcome(`select from ${name}`), name).to.equal(REFUSED);
  });

  it('holds where a statement is prepared for one tenant and run for another', async () => {
    const statement = 'select tenant_id as tenant from tokens';
    for (const { tenantId } of [own, foreign, own]) {
      await api.enter(tenantId);
      const rows = await api.query<{ tenant: string }>(statement);
      expect(new Set(rows.map(({ tenant }) => tenant))).to.deep.equal(new Set([tenantId]));
    }
  });
});
