import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase, type Database } from '../../src/data/database.ts';
import { startEmbeddedPostgres } from '../../src/data/embedded/postgres.ts';
import { migrate } from '../../src/data/migrate.ts';
import { silentLogger } from '../../src/platform/logger.ts';

const ADDRESS = 'TOKENKEEP_TEST_POSTGRES';
const TEMPLATE = 'TOKENKEEP_TEST_TEMPLATE';

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
  stop = async () => {
    if (server === undefined) await administer(`drop database if exists ${template()} with (force)`);
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  await administer(`create database ${template()}`);
  const database = createDatabase({ connectionString: urlOf(template()), logger: silentLogger });
  await migrate(database, { logger: silentLogger });
  await database.close();
}

export async function stopTestPostgres(): Promise<void> {
  await stop?.();
  stop = undefined;
}

/** A database of a test's own, with the whole schema. */
export interface TestDatabase {
  readonly connectionString: string;
  readonly database: Database;
  /** Closes the pool and drops the database. */
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
  const database = createDatabase({ connectionString, logger: silentLogger });
  return {
    connectionString,
    database,
    async dispose() {
      await database.close();
      await administer(`drop database ${name} with (force)`);
    },
  };
}

function template(): string {
  return process.env[TEMPLATE]!;
}

function urlOf(databaseName: string): string {
  const address = process.env[ADDRESS];
  if (address === undefined) throw new Error('the test run has no Postgres: run the tests through mocha');
  const url = new URL(address);
  url.pathname = `/${databaseName}`;
  return url.href;
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env[ADDRESS] });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
