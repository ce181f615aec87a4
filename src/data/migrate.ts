import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Logger } from '../platform/logger.ts';
import type { Database, Queryable, Statement } from './database.ts';
import { ensureGroupRoles } from './group-roles.ts';

/** The schema in the database and the one that this program knows do not go together. The message says what to do. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** One file of migrations/: `0001_tenants.sql`. Once released it never changes. */
export interface Migration {
  number: number;
  name: string;
  sql: string;
  checksum: string;
  /** Programs that do not know the migration cannot work with its schema. The file's first line is `-- breaking`. */
  breaking: boolean;
}

interface AppliedMigration {
  number: number;
  name: string;
  checksum: string;
  breaking: boolean;
}

const FOLDER = new URL('./migrations/', import.meta.url);
const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** The migrations that this program knows, in order. */
export async function readMigrations(folder: URL = FOLDER): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => FILE.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, folder), 'utf8');
      const [, number, name] = FILE.exec(file)!;
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { number: Number(number), name: name!, sql, checksum, breaking: sql.startsWith('-- breaking\n') };
    }),
  );
}

// Released with the transaction; of two programs that migrate at once, one waits and then finds the work done.
const LOCK: Statement = {
  text: `select pg_advisory_xact_lock(hashtext('tokenkeep migrations'))`,
  unbounded: true,
};

const CREATE_TABLE: Statement = {
  text: `
    create table if not exists schema_migrations (
      number integer primary key,
      name text not null,
      checksum text not null,
      breaking boolean not null,
      applied_at timestamptz not null default now()
    )`,
};

const APPLIED: Statement = { text: 'select number, name, checksum, breaking from schema_migrations order by number' };

const RECORD: Statement = {
  text: 'insert into schema_migrations (number, name, checksum, breaking) values ($1, $2, $3, $4)',
};

/**
 * Applies the migrations that are missing, all or none. Throws a SchemaMismatch where an applied one differs from what
 * this program knows, or is unknown to it and breaking; GroupRolesMissing where the group roles that migrations grant
 * to are not there and cannot be made. Where nothing is missing, any user that may read the schema's version will do.
 */
export async function migrate(
  database: Database,
  { logger, migrations }: { logger: Logger; migrations?: readonly Migration[] },
): Promise<void> {
  const known = migrations ?? (await readMigrations());
  if (pendingMigrations(known, await appliedMigrations(database)).length === 0) {
    logger.info({}, 'Schema found up to date');
    return;
  }
  await database.transaction(async (transaction) => {
    await transaction.run({ text: `set local lock_timeout = '60s'` });
    await transaction.run({ text: `set local statement_timeout = 0` });
    await transaction.run(LOCK);
    await transaction.run(CREATE_TABLE);
    await ensureGroupRoles(transaction);
    const pending = pendingMigrations(known, await transaction.run<AppliedMigration>(APPLIED));
    for (const migration of pending) {
      await transaction.run({ text: migration.sql, unbounded: true });
      const { number, name, checksum, breaking } = migration;
      await transaction.run(RECORD, [number, name, checksum, breaking]);
      logger.info({ number, name }, 'Migration applied');
    }
  });
}

const EXISTS: Statement = { text: `select to_regclass('schema_migrations') is not null as "exists"` };

async function appliedMigrations(queryable: Queryable): Promise<AppliedMigration[]> {
  const [row] = await queryable.run<{ exists: boolean }>(EXISTS);
  return row!.exists ? queryable.run<AppliedMigration>(APPLIED) : [];
}

/** Throws a SchemaMismatch where the database is not at the schema of this program. Changes nothing. */
export async function assertMigrated(queryable: Queryable): Promise<void> {
  const pending = pendingMigrations(await readMigrations(), await appliedMigrations(queryable));
  if (pending.length === 0) return;
  throw new SchemaMismatch(
    `the database is behind this version by ${pending.length} migrations: start the vault with this version, or run ` +
      '"tokenkeep migrate", first',
  );
}

function pendingMigrations(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const byNumber = new Map(known.map((migration) => [migration.number, migration]));
  for (const { number, name, checksum, breaking } of applied) {
    const migration = byNumber.get(number);
    if (migration === undefined && breaking) {
      throw new SchemaMismatch(
        `the database has migration ${number} (${name}), which this version does not know: run a newer version`,
      );
    }
    if (migration !== undefined && migration.checksum !== checksum) {
      throw new SchemaMismatch(
        `migration ${number} (${name}) was applied with other contents: this program and the database do not belong ` +
          'together, or a released migration was edited',
      );
    }
  }
  const done = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !done.has(number));
}
