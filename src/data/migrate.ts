import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../platform/logger.ts';
import type { Database, Queryable, Statement } from './database.ts';
import { LockNotGranted } from './failures.ts';
import { ensureGroupRoles } from './group-roles.ts';

/** The schema in the database and the one that this program knows do not go together. The message says what to do. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** Others kept what a migration changes locked for too long. The message says what to do. */
export class MigrationBlocked extends Error {
  override readonly name = 'MigrationBlocked';
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

const SET_LOCK_TIMEOUT: Statement = { text: `select set_config('lock_timeout', $1, true)` };

/** How long a migration waits for others, in ms. */
export interface MigrationPatience {
  /**
   * For what its statements lock. Whatever else wants the same table waits behind it meanwhile, be it only to read.
   * More than Postgres's deadlock_timeout (1 s), after which it ends an automatic vacuum that is in the way.
   */
  readonly lockMs: number;
  /** Between the first two tries; then twice as long each time. What has waited is answered in between. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** In all; also for another program that migrates, for which nothing else waits. */
  readonly giveUpAfterMs: number;
}

// It gives up, and says why, before `helm upgrade` does without a --timeout: after 5 minutes.
const PATIENCE: MigrationPatience = {
  lockMs: 2_000,
  firstPauseMs: 2_000,
  longestPauseMs: 15_000,
  giveUpAfterMs: 240_000,
};

/**
 * Applies the migrations that are missing, all or none. Throws a SchemaMismatch where an applied one differs from what
 * this program knows, or is unknown to it and breaking; GroupRolesMissing where the group roles that migrations grant
 * to are not there and cannot be made; MigrationBlocked where others hold what it needs to the end of its patience.
 * Where nothing is missing, any user that may read the schema's version will do.
 */
export async function migrate(
  database: Database,
  options: { logger: Logger; migrations?: readonly Migration[]; patience?: MigrationPatience },
): Promise<void> {
  const { logger, migrations, patience = PATIENCE } = options;
  const known = migrations ?? (await readMigrations());
  if (pendingMigrations(known, await appliedMigrations(database)).length === 0) {
    logger.info({}, 'Schema found up to date');
    return;
  }
  const startedAt = performance.now();
  for (let tries = 1; ; tries += 1) {
    const leftMs = patience.giveUpAfterMs - (performance.now() - startedAt);
    try {
      const applied = await applyPending(database, known, { turnMs: Math.max(leftMs, 1), lockMs: patience.lockMs });
      for (const { number, name } of applied) logger.info({ number, name }, 'Migration applied');
      return;
    } catch (error) {
      if (!(error instanceof LockNotGranted)) throw error;
      const pauseMs = pauseAfter(tries, patience);
      if (performance.now() - startedAt + pauseMs > patience.giveUpAfterMs) throw blocked(tries, patience, error);
      logger.warn(
        { error, tries, pauseMs: Math.round(pauseMs) },
        'Migration taken back, since others hold a lock; it is tried again. End what has a table open for long: a ' +
          'pg_dump, or a transaction that pg_stat_activity shows as old',
      );
      await delay(pauseMs);
    }
  }
}

/** By chance up to a half shorter: programs that failed together come back apart. */
function pauseAfter(tries: number, { firstPauseMs, longestPauseMs }: MigrationPatience): number {
  return Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs) * (1 - Math.random() / 2);
}

function blocked(tries: number, { giveUpAfterMs }: MigrationPatience, cause: Error): MigrationBlocked {
  return new MigrationBlocked(
    `the migration did not get its locks within ${giveUpAfterMs / 1_000} s, in ${tries} tries, and has changed ` +
      'nothing: end what has a table of the vault open for long (a pg_dump, a transaction that pg_stat_activity shows ' +
      'as old, another migration) or wait for its end, then migrate again',
    { cause },
  );
}

/** The migrations that were missing. Throws a LockNotGranted, and has changed nothing, where others hold a lock. */
async function applyPending(
  database: Database,
  known: readonly Migration[],
  { turnMs, lockMs }: { turnMs: number; lockMs: number },
): Promise<Migration[]> {
  return database.transaction(async (transaction) => {
    await transaction.run({ text: `set local statement_timeout = 0` });
    await transaction.run(SET_LOCK_TIMEOUT, [String(Math.ceil(turnMs))]);
    await transaction.run(LOCK);
    await transaction.run(SET_LOCK_TIMEOUT, [String(lockMs)]);
    await transaction.run(CREATE_TABLE);
    await ensureGroupRoles(transaction);
    const pending = pendingMigrations(known, await transaction.run<AppliedMigration>(APPLIED));
    for (const migration of pending) {
      await transaction.run({ text: migration.sql, unbounded: true });
      const { number, name, checksum, breaking } = migration;
      await transaction.run(RECORD, [number, name, checksum, breaking]);
    }
    return pending;
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
