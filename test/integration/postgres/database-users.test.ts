import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createDatabase, type Database } from '../../../src/data/database.ts';
import { ensureGroupRoles, GroupRolesMissing, putLogin, statementsForLogins } from '../../../src/data/group-roles.ts';
import { createLogger, silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { noTracing } from '../../../src/platform/tracing.ts';
import { createShutdownStack } from '../../../src/platform/shutdown.ts';
import { type DatabaseConfig, type Databases, openDatabases } from '../../../src/roles/databases.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

const plainWord = (): string => `tokenkeep_test_${randomBytes(6).toString('hex')}`;
const USERS = `
  select current_user as "current", session_user as "session", pg_has_role('tokenkeep_api', 'usage') as "isApi",
    pg_has_role('tokenkeep_sweeper', 'usage') as "isSweeper"`;

interface User {
  current: string;
  session: string;
  isApi: boolean;
  isSweeper: boolean;
}

describe('the users of a database that lies elsewhere', () => {
  let test: TestDatabase;
  const lines: { level: string; message: string; setting?: string }[] = [];
  const logger = createLogger({
    level: 'warn',
    format: 'json',
    destination: { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]) },
  });

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(() => lines.splice(0));

  async function whileOpen<Result>(
    urls: Partial<DatabaseConfig>,
    work: (databases: Databases) => Promise<Result>,
  ): Promise<Result> {
    const shutdown = createShutdownStack({ logger: silentLogger });
    const fail = (error: Error): never => {
      throw error;
    };
    const none = { databaseUrl: undefined, maintenanceDatabaseUrl: undefined, migrationDatabaseUrl: undefined };
    try {
      return await work(
        await openDatabases(
          { dataDir: '', ...none, ...urls },
          { logger, metrics: createMetrics(), tracing: noTracing, shutdown, fail },
        ),
      );
    } finally {
      await shutdown.run();
    }
  }

  async function userOf(database: Database): Promise<User> {
    return (await database.run<User>({ text: USERS }))[0]!;
  }

  it('are confined each to its work where each part has its own, which nothing is said about', async () => {
    const urls = { databaseUrl: test.apiConnectionString, maintenanceDatabaseUrl: test.sweeperConnectionString };
    await whileOpen(urls, async ({ database, maintenance }) => {
      expect(await userOf(database)).to.include({ current: 'tokenkeep_api', isSweeper: false });
      expect(await userOf(maintenance)).to.include({ current: 'tokenkeep_sweeper', isApi: false });
    });
    expect(lines).to.deep.equal([]);
  });

  it('are the owner in the roles of both parts where it is the only one, which is warned of', async () => {
    await whileOpen({ databaseUrl: test.connectionString }, async ({ database, maintenance }) => {
      expect((await userOf(database)).current).to.equal('tokenkeep_api');
      expect((await userOf(maintenance)).current).to.equal('tokenkeep_sweeper');
      expect(await database.run({ text: 'select from tenants' })).to.deep.equal([]);
    });
    expect(lines.map(({ setting }) => setting)).to.deep.equal(['--database-url', '--maintenance-database-url']);
    for (const { message } of lines) expect(message).to.match(/only as long as no statement changes the role/);
  });

  it('are refused where one may not do the work of a part, naming the setting and what to run', async () => {
    const error = await whileOpen({ databaseUrl: test.apiConnectionString }, async () => undefined).catch(
      (caught: unknown) => caught,
    );
    expect(error).to.be.an.instanceOf(Error);
    expect((error as Error).message).to.match(
      /^the user \w+ of --maintenance-database-url may not .* run "grant tokenkeep_sweeper to \w+"$/,
    );
    const password = new URL(test.apiConnectionString).password;
    expect((error as Error).message).not.to.include(password);
  });

  it('may be an owner that is no member of the groups, which is warned of as no protection', async () => {
    const owner = plainWord();
    await test.database.run({ text: `create role ${owner} login password '${owner}'` });
    const own = await createEmptyDatabase();
    try {
      await own.database.run({ text: `alter schema public owner to ${owner}` });
      const url = new URL(own.connectionString);
      Object.assign(url, { username: owner, password: owner });
      await whileOpen({ databaseUrl: url.href }, async ({ database, maintenance }) => {
        expect(await userOf(database)).to.include({ current: owner, session: owner });
        expect((await userOf(maintenance)).current).to.equal(owner);
      });
      expect(lines.map(({ message }) => message)).to.deep.equal([
        'Row-level security does not hold: give this setting a user that owns no tables',
        'Row-level security does not hold: give this setting a user that owns no tables',
      ]);
    } finally {
      await own.dispose();
      await test.database.run({ text: `drop role ${owner}` });
    }
  });

  it('that migrate cannot make the groups are told what an administrator is to run', async () => {
    const user = plainWord();
    const [missing, made] = [plainWord(), plainWord()];
    await putLogin(test.database, { name: user, password: user, group: 'tokenkeep_api' });
    const url = new URL(test.connectionString);
    Object.assign(url, { username: user, password: user });
    const database = createDatabase({ connectionString: url.href, logger: silentLogger });
    try {
      const error = await ensureGroupRoles(database, [missing]).catch((caught: unknown) => caught);
      expect(error).to.be.an.instanceOf(GroupRolesMissing);
      expect((error as Error).message).to.include(`create role ${missing} nologin;`);
      await ensureGroupRoles(test.database, [made]);
      await ensureGroupRoles(database, [made, 'tokenkeep_api']);
    } finally {
      await database.close();
      await test.database.run({ text: `drop role ${user}` });
      await test.database.run({ text: `drop role if exists ${made}` });
    }
  });

  it('are named to an administrator as statements for the groups that have no user', async () => {
    const group = plainWord();
    await ensureGroupRoles(test.database, [group]);
    try {
      const statements = await statementsForLogins(test.database, [group, 'tokenkeep_api', 'tokenkeep_sweeper']);
      expect(statements).to.deep.equal([`create user <name> password '<password>' in role ${group};`]);
    } finally {
      await test.database.run({ text: `drop role ${group}` });
    }
  });

  it('are made with plain words alone, since neither can be a parameter of the statement', async () => {
    for (const word of [`a'b`, 'a b', 'a;b', '']) {
      const login = { name: 'plain', password: 'plain', group: 'tokenkeep_api' } as const;
      for (const forged of [{ name: word }, { password: word }]) {
        const error = await putLogin(test.database, { ...login, ...forged }).catch((caught: unknown) => caught);
        expect(error).to.be.an.instanceOf(RangeError);
      }
    }
  });
});
