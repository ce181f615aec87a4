import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase, type Database } from '../../src/data/database.ts';
import { startEmbeddedPostgres } from '../../src/data/embedded/postgres.ts';
import { API_ROLE, type GroupRole, putLogin, SWEEPER_ROLE } from '../../src/data/group-roles.ts';
import { migrate } from '../../src/data/migrate.ts';
import { silentLogger } from '../../src/platform/logger.ts';

const ADDRESS = 'TOKENKEEP_TEST_POSTGRES';
const TEMPLATE = 'TOKENKEEP_TEST_TEMPLATE';
/** Of the users that are members of the group roles. */
const PASSWORD = 'TOKENKEEP_TEST_PASSWORD';

let stop: (() => Promise<void>) | undefined;

/**
 * Starts one Postgres for the whole run, or takes that of TOKENKEEP_TEST_DATABASE_URL, and makes a migrated template
 * in it. Tests find both through the environment.
 */
export async function startTestPostgres(): Promise<void> {
  const external = process.env['TOKENKEEP_TEST_DATABASE_URL'];
  const folder = external === undefined ? await mkdtemp(join(tmpdir(), 'tokenkeep-test-')) : undefined;
  // As root, Postgres runs under another account, which must reach its files.
  if (folder !== undefined) await chmod(folder, 0o711);
  const server =
    folder === undefined
      ? undefined
      : await startEmbeddedPostgres({ dataDir: folder, logger: silentLogger, syncInitdb: false });
  process.env[ADDRESS] = server?.connectionString ?? external;
  process.env[TEMPLATE] = `tokenkeep_template_${randomBytes(6).toString('hex')}`;
  process.env[PASSWORD] = randomBytes(16).toString('hex');
  stop = async () => {
    if (server === undefined) {
      await administer(`drop database if exists ${template()} with (force)`);
      for (const role of [API_ROLE, SWEEPER_ROLE] as const) await administer(`drop role if exists ${loginOf(role)}`);
    }
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  await administer(`create database ${template()}`);
  const database = createDatabase({ connectionString: urlOf(template()), logger: silentLogger });
  await migrate(database, { logger: silentLogger });
  for (const group of [API_ROLE, SWEEPER_ROLE] as const) {
    await putLogin(database, { name: loginOf(group), password: process.env[PASSWORD], group });
  }
  await database.close();
}

export async function stopTestPostgres(): Promise<void> {
  await stop?.();
  stop = undefined;
}

/** A database of a test's own, with the whole schema. */
export interface TestDatabase {
  /** As the owner, whom no policy holds. */
  readonly connectionString: string;
  readonly database: Database;
  /** As the API: confined to the tenant in scope. */
  readonly apiConnectionString: string;
  readonly api: Database;
  /** As the sweeper. */
  readonly sweeperConnectionString: string;
  readonly maintenance: Database;
  /** Closes the pools and drops the database. */
  dispose(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  return createFrom(template());
}

/** Without any schema. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createFrom('template0');
}

async function createFrom(source: string): Promise<TestDatabase> {
  const name = `tokenkeep_test_${randomBytes(6).toString('hex')}`;
  // A copy of the files, without a checkpoint of the whole server before and after each one.
  await administer(`create database ${name} template ${source} strategy wal_log`);
  const connectionString = urlOf(name);
  const apiConnectionString = urlOf(name, API_ROLE);
  const sweeperConnectionString = urlOf(name, SWEEPER_ROLE);
  const logger = silentLogger;
  const database = createDatabase({ connectionString, logger });
  const api = createDatabase({ connectionString: apiConnectionString, tenantScoped: true, logger });
  const maintenance = createDatabase({ connectionString: sweeperConnectionString, poolSize: 4, logger });
  return {
    ...{ connectionString, database, apiConnectionString, api, sweeperConnectionString, maintenance },
    async dispose() {
      await Promise.all([database, api, maintenance].map((pool) => pool.close()));
      await administer(`drop database ${name} with (force)`);
    },
  };
}

function template(): string {
  return process.env[TEMPLATE]!;
}

/** Users belong to the whole server: those of another run beside this one are others. */
function loginOf(role: GroupRole): string {
  return template().replace('template', role);
}

function urlOf(databaseName: string, role?: GroupRole): string {
  const address = process.env[ADDRESS];
  if (address === undefined) throw new Error('the test run has no Postgres: run the tests through mocha');
  const url = new URL(address);
  url.pathname = `/${databaseName}`;
  if (role !== undefined) {
    url.username = loginOf(role);
    url.password = process.env[PASSWORD]!;
  }
  return url.href;
}

/** Runs a statement as the superuser of the run's Postgres. */
export async function administer(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: process.env[ADDRESS] });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
