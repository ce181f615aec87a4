import { expect } from 'chai';
import { type DatabaseSession, openDatabaseSession } from '../../support/database-session.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type StoredRows, storeRowInEachTable } from '../../support/stored-rows.ts';

const REFUSED = '42501';
const NOT_SUPPORTED = '0A000';

describe('the roles of the database', () => {
  let test: TestDatabase;
  let api: DatabaseSession;
  let sweeper: DatabaseSession;
  let own: StoredRows;
  let foreign: StoredRows;

  before(async () => {
    test = await createTestDatabase();
    [own, foreign] = [await storeRowInEachTable(test.database), await storeRowInEachTable(test.database)];
    await test.database.run({ text: 'analyze' });
  });
  after(() => test.dispose());
  beforeEach(async () => {
    api = await openDatabaseSession(test.apiConnectionString);
    sweeper = await openDatabaseSession(test.sweeperConnectionString);
    await api.enter(own.tenantId);
  });
  afterEach(() => Promise.all([api.end(), sweeper.end()]));

  const foreignSeen = async (): Promise<string | number> =>
    api.outcome('select from tokens where tenant_id = $1', [foreign.tenantId]);

  async function countAsOwner(table: string): Promise<number> {
    const [row] = await test.database.run<{ count: number }>({
      text: `select count(*)::integer as count from ${table}`,
    });
    return row!.count;
  }

  it('own nothing, may not log in themselves, and are above no policy', async () => {
    const roles = await test.database.run({
      text: `
        select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication or rolcanlogin as "may",
          (select count(*)::integer from pg_shdepend where refobjid = r.oid and deptype = 'o') as owned,
          array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid) as groups
        from pg_roles r where rolname in ('tokenkeep_api', 'tokenkeep_sweeper')`,
    });
    expect(roles).to.deep.equal(Array.from({ length: 2 }, () => ({ may: false, owned: 0, groups: [] })));
  });

  describe('of the API', () => {
    for (const statement of [
      'set role tokenkeep_sweeper',
      'set role tokenkeep',
      'set session authorization tokenkeep',
      `select set_config('role', 'tokenkeep_sweeper', false)`,
      'alter table tokens disable row level security',
      'alter table tokens no force row level security',
      'create policy mine on tokens using (true)',
      'drop policy own_rows on tokens',
      'alter policy own_rows on tokens using (true)',
      'alter role current_user bypassrls',
      'grant tokenkeep_sweeper to current_user',
      'alter table tokens owner to current_user',
      'create table copied as select 1',
      'create function mine() returns integer language sql return 1',
      `create view every_token as select * from tokens`,
      'truncate tokens',
      'drop table tokens',
      `copy tokens to '/tmp/tokens'`,
      `copy tokens to program 'cat'`,
      'select * from pg_statistic',
      'select * from pg_authid',
      `select pg_read_file('postgresql.conf')`,
      `select pg_ls_dir('base')`,
    ]) {
      it(`is refused: ${statement}`, async () => {
        expect(await api.outcome(statement)).to.be.oneOf([REFUSED, NOT_SUPPORTED]);
        expect(await foreignSeen()).to.equal(0);
      });
    }

    for (const statement of [
      'reset role',
      'set role none',
      'reset session authorization',
      'reset all',
      'discard all',
    ]) {
      it(`sees no more after: ${statement}`, async () => {
        await api.outcome(statement);
        expect(await foreignSeen()).to.equal(0);
      });
    }

    it('is refused its own rows too where it asks for them without policies', async () => {
      await api.query('set row_security = off');
      expect(await foreignSeen()).to.equal(REFUSED);
    });

    it('is not told values of other tenants by statistics', async () => {
      const asOwner = await countAsOwner(`pg_stats where tablename = 'tokens'`);
      expect(asOwner).to.be.above(0);
      expect(await api.outcome(`select from pg_stats where tablename in ('tokens', 'applications', 'logs')`)).to.equal(
        0,
      );
      expect(await api.outcome('select from pg_stats_ext')).to.equal(0);
    });

    it('may add to the log of its tenant, and neither change nor remove what is there', async () => {
      const before = await countAsOwner('logs');
      for (const statement of [`update logs set message = ''`, 'delete from logs', 'truncate logs']) {
        expect(await api.outcome(statement)).to.equal(REFUSED);
      }
      expect(await countAsOwner('logs')).to.equal(before);
    });

    it('may not change the counts of tokens but by tokens', async () => {
      for (const table of ['token_counts', 'token_count_changes']) {
        expect(await api.outcome(`delete from ${table}`), table).to.equal(REFUSED);
        expect(await api.outcome(`update ${table} set tenant_id = tenant_id`), table).to.equal(REFUSED);
      }
    });

    it('gets from functions of the owner one row for the digest of a key, and none without it', async () => {
      await api.enter('');
      const access = `select tenant_id as tenant from find_key_access(decode($1, 'hex'))`;
      expect(await api.query(access, [foreign.keyDigest])).to.deep.equal([{ tenant: foreign.tenantId }]);
      const session = `select tenant_id as tenant from find_session_access(decode($1, 'hex'))`;
      expect(await api.query(session, [foreign.sessionKeyDigest])).to.deep.equal([{ tenant: foreign.tenantId }]);
      for (const forged of ['', '00', foreign.sessionKeyDigest, foreign.nonceDigest]) {
        expect(await api.outcome(access, [forged])).to.equal(0);
      }
      for (const forged of ['', '00', foreign.keyDigest, foreign.nonceDigest]) {
        expect(await api.outcome(session, [forged])).to.equal(0);
      }
      for (const call of ['find_key_access(null)', 'find_session_access(null)']) {
        expect(await api.outcome(`select from ${call}`)).to.equal(0);
      }
    });

    it('gets from the look-up of metadata tokens of the tenant in scope alone, whatever it asks for', async () => {
      const tenants = `select distinct tenant_id as tenant from tokens_with_metadata($1::jsonb, $2)`;
      for (const wanted of ['{"color": "blue"}', '{}']) {
        expect(await api.query(tenants, [wanted, null])).to.deep.equal([{ tenant: own.tenantId }]);
        expect(await api.query(tenants, [wanted, '9223372036854775807'])).to.deep.equal([{ tenant: own.tenantId }]);
      }
      await api.enter('');
      expect(await api.query(tenants, ['{"color": "blue"}', null])).to.deep.equal([]);
    });

    it('misleads no function of the owner by tables of its own', async () => {
      await api.query('create temporary table tokens (like public.tokens)');
      await api.query('create temporary table application_keys (like public.application_keys)');
      await api.query('set search_path = pg_temp, public');
      const found = await api.query<{ tenant: string }>(
        `select distinct tenant_id as tenant from tokens_with_metadata('{}', null)`,
      );
      expect(found).to.deep.equal([{ tenant: own.tenantId }]);
      const access = `select from find_key_access(decode($1, 'hex'))`;
      expect(await api.outcome(access, [own.keyDigest])).to.equal(1);
    });

    for (const trigger of ['queue_log_entries', 'note_removed_tenant', 'fence_data_key']) {
      it(`runs ${trigger} on no table of its own`, async () => {
        await api.query('create temporary table mine (tenant_id uuid)');
        const creation = `create trigger t after insert on mine for each statement execute function ${trigger}()`;
        expect(await api.outcome(creation)).to.equal(REFUSED);
      });
    }

    for (const call of [
      'fold_token_counts(1)',
      'drop_empty_token_counts(1)',
      'make_log_partitions(1)',
      'drop_log_partitions(now())',
      'drop_expired_log_partition()',
      'clear_unpartitioned_logs(1)',
      'remove_logs_of_deleted_tenant(gen_random_uuid(), 1)',
    ]) {
      it(`is refused the function ${call}`, async () => {
        expect(await api.outcome(`select ${call}`)).to.equal(REFUSED);
      });
    }

    it('is held by no wall where a statement names the tenant to be confined to', async () => {
      await api.query(`select set_config('tokenkeep.tenant_id', $1, false)`, [foreign.tenantId]);
      expect(await foreignSeen()).to.be.above(0);
    });
  });

  describe('of the sweeper', () => {
    it('sees every tenant, and nothing that is sealed or that opens anything', async () => {
      expect(await sweeper.outcome('select tenant_id, token_id, type, expires_at from tokens')).to.equal(4);
      for (const [table, column] of [
        ['tokens', 'data'],
        ['tokens', 'mask'],
        ['tokens', 'metadata'],
        ['tokens', 'fingerprint'],
        ['token_cvcs', 'cvc'],
        ['token_search_hashes', 'hash'],
        ['idempotent_answers', 'answer'],
        ['application_keys', 'digest'],
        ['applications', 'rules'],
        ['sessions', 'key_digest'],
        ['tenants', 'settings'],
        ['reactor_invocations', 'args'],
        ['reactor_invocations', 'callback_url'],
        ['reactor_invocations', 'result'],
        ['webhook_secrets', 'secret'],
      ]) {
        expect(await sweeper.outcome(`select ${column} from ${table}`), `${table}.${column}`).to.equal(REFUSED);
      }
    });

    it('may lock what it removes, and change none of it', async () => {
      for (const table of ['tokens', 'token_cvcs', 'sessions', 'idempotent_answers', 'webhook_secrets']) {
        expect(await sweeper.outcome(`select tenant_id from ${table} for update`), table).to.be.above(0);
        expect(await sweeper.outcome(`update ${table} set expires_at = now()`), table).to.equal(REFUSED);
      }
    });

    for (const statement of [
      `update logs set message = ''`,
      'delete from logs',
      'truncate logs',
      `update tenants set quotas = '{}'`,
      'delete from tenants',
      `update applications set permissions = '{}'`,
      `update reactor_invocations set state = 'waiting'`,
      `update reactor_invocations set result = null`,
      `insert into tokens (tenant_id) values (gen_random_uuid())`,
      `insert into application_keys (tenant_id) values (gen_random_uuid())`,
      'select drop_log_partitions(now())',
      `select find_key_access('\\x00')`,
      `select tokens_with_metadata('{}', 1)`,
      'set role tokenkeep_api',
      'set role tokenkeep',
      'alter table logs disable row level security',
      'drop table logs',
    ]) {
      it(`is refused: ${statement}`, async () => {
        expect(await sweeper.outcome(statement)).to.equal(REFUSED);
      });
    }

    it('removes entries by functions that take no word for what is past retention', async () => {
      const before = await countAsOwner('logs');
      expect(await sweeper.query('select drop_expired_log_partition() as count')).to.deep.equal([{ count: 0 }]);
      expect(await sweeper.query('select clear_unpartitioned_logs(1000) as count')).to.deep.equal([{ count: 0 }]);
      const ofLiving = 'select remove_logs_of_deleted_tenant($1, 1000) as count';
      expect(await sweeper.query(ofLiving, [own.tenantId])).to.deep.equal([{ count: 0 }]);
      expect(await countAsOwner('logs')).to.equal(before);
    });
  });

  it('find no function of the owner that anybody may call, or that a path of theirs could mislead', async () => {
    const functions = await test.database.run<{ name: string; isPublic: boolean; path: string | null }>({
      text: `
        select p.oid::regprocedure::text as name,
          has_function_privilege('public', p.oid, 'execute') as "isPublic",
          (select setting from unnest(p.proconfig) setting where setting like 'search_path=%') as path
        from pg_proc p where p.prosecdef and p.pronamespace = current_schema()::regnamespace`,
    });
    expect(functions).to.have.length.at.least(14);
    expect(functions.filter(({ isPublic }) => isPublic)).to.deep.equal([]);
    // What is temporary comes last.
    expect(functions.filter(({ path }) => !/, pg_temp$/.test(path ?? ''))).to.deep.equal([]);
  });
});
