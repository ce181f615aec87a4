import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createDatabase, type Database } from '../data/database.ts';
import { createDatabaseMetrics } from '../data/database-metrics.ts';
import { isConfinedTo, readUserRights } from '../data/database-users.ts';
import { assertDurable } from '../data/durability.ts';
import { startEmbeddedPostgres } from '../data/embedded/postgres.ts';
import { API_ROLE, putLogin, SWEEPER_ROLE, type GroupRole } from '../data/group-roles.ts';
import { assertMigrated, migrate } from '../data/migrate.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { ShutdownStack } from '../platform/shutdown.ts';
import type { Tracing } from '../platform/tracing.ts';

/** A database that is there. Each may hold a password. */
export interface ConnectionConfig {
  /** For the API. */
  readonly databaseUrl: string;
  /** For the sweeper; that of the API where it is undefined. */
  readonly maintenanceDatabaseUrl: string | undefined;
}

/** Where the database is. Each may hold a password. */
export interface DatabaseConfig extends Omit<ConnectionConfig, 'databaseUrl'> {
  /** Keeps the embedded Postgres. */
  readonly dataDir: string;
  /** For the API; the embedded Postgres is used where it is undefined. */
  readonly databaseUrl: string | undefined;
  /** Of the owner, for migrations; that of the API where it is undefined. */
  readonly migrationDatabaseUrl: string | undefined;
}

export interface Databases {
  /** Of the API: confined to the tenant in scope. */
  readonly database: Database;
  /** Of the sweeper: for work across tenants. */
  readonly maintenance: Database;
  /** As which `database` connects. */
  readonly connectionString: string;
}

interface Surroundings {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly shutdown: ShutdownStack;
}

interface EmbeddingSurroundings extends Surroundings {
  /** Called where the embedded Postgres ends without having been asked to. */
  readonly fail: (error: Error) => void;
}

const POOL_SIZE = 20;
/** The sweeper does one thing at a time, and the control plane asks for little across tenants. */
const MAINTENANCE_POOL_SIZE = 4;

/** In metrics. */
const POOL_NAMES: Readonly<Record<GroupRole, string>> = { [API_ROLE]: 'api', [SWEEPER_ROLE]: 'maintenance' };

/** What the user of each pool is to be, and may not be more than. */
const USERS = [
  { role: API_ROLE, setting: '--database-url' },
  { role: SWEEPER_ROLE, setting: '--maintenance-database-url' },
] as const;

/** What is done on one connection, before the pools are opened. */
async function onConnection<Result>(
  connectionString: string,
  logger: Logger,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = createDatabase({ connectionString, logger, poolSize: 1, applicationName: 'tokenkeep start' });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Users of a Postgres that is all ours: their passwords are new with each start, and kept in memory alone. */
async function makeLogins(owner: Database, ownerUrl: string): Promise<Record<GroupRole, string>> {
  const urls = {} as Record<GroupRole, string>;
  for (const { role } of USERS) {
    const url = new URL(ownerUrl);
    url.username = `${role}_login`;
    url.password = randomBytes(32).toString('hex');
    await putLogin(owner, { name: url.username, password: url.password, group: role });
    urls[role] = url.href;
  }
  return urls;
}

async function startEmbedded(dataDir: string, { logger, shutdown, fail }: EmbeddingSurroundings) {
  const onExit = () => fail(new Error(`Postgres ended unexpectedly; its log is ${join(dataDir, 'postgres.log')}`));
  const postgres = await startEmbeddedPostgres({ dataDir, logger, onExit });
  shutdown.push('Postgres', () => postgres.stop());
  return onConnection(postgres.connectionString, logger, async (owner) => {
    await assertDurable(owner);
    await migrate(owner, { logger });
    return makeLogins(owner, postgres.connectionString);
  });
}

/** The group that a user is to take on; undefined where it cannot, and is the owner anyway. */
async function findRole(
  connectionString: string,
  { role, setting }: (typeof USERS)[number],
  logger: Logger,
): Promise<GroupRole | undefined> {
  const rights = await onConnection(connectionString, logger, readUserRights);
  const { name: user } = rights;
  const mayTakeOn = rights.groups.includes(role);
  if (!mayTakeOn && !rights.bypasses) {
    throw new Error(`the user ${user} of ${setting} may not do the work of ${role}: run "grant ${role} to ${user}"`);
  }
  if (!mayTakeOn) {
    logger.warn({ user, setting }, 'Row-level security does not hold: give this setting a user that owns no tables');
  } else if (!isConfinedTo(rights, role)) {
    logger.warn(
      { user, setting, role },
      'Row-level security holds only as long as no statement changes the role: give this setting a user of that role',
    );
  }
  return mayTakeOn ? role : undefined;
}

type Urls = Readonly<Record<GroupRole, string>>;
/** The group that each pool takes on; none where its user is in it already, or cannot be. */
type Roles = Readonly<Partial<Record<GroupRole, GroupRole | undefined>>>;

function openPools(urls: Urls, roles: Roles, { logger, metrics, tracing, shutdown }: Surroundings): Databases {
  const observe = createDatabaseMetrics(metrics);
  const open = (role: GroupRole, options: { poolSize: number; tenantScoped?: boolean; applicationName: string }) => {
    const pool = createDatabase({
      ...{ connectionString: urls[role], role: roles[role], logger, tracing, ...options },
      observer: observe(POOL_NAMES[role]),
    });
    shutdown.push(`${role} pool`, () => pool.close());
    return pool;
  };
  return {
    database: open(API_ROLE, { poolSize: POOL_SIZE, tenantScoped: true, applicationName: 'tokenkeep' }),
    maintenance: open(SWEEPER_ROLE, { poolSize: MAINTENANCE_POOL_SIZE, applicationName: 'tokenkeep maintenance' }),
    connectionString: urls[API_ROLE],
  };
}

async function connect(config: ConnectionConfig, surroundings: Surroundings): Promise<Databases> {
  const { databaseUrl, maintenanceDatabaseUrl = databaseUrl } = config;
  const urls = { [API_ROLE]: databaseUrl, [SWEEPER_ROLE]: maintenanceDatabaseUrl };
  const roles: Partial<Record<GroupRole, GroupRole | undefined>> = {};
  for (const user of USERS) roles[user.role] = await findRole(urls[user.role], user, surroundings.logger);
  return openPools(urls, roles, surroundings);
}

/** Finds the database or starts it, brings its schema up to date, and connects, each part as a user of its own. */
export async function openDatabases(config: DatabaseConfig, surroundings: EmbeddingSurroundings): Promise<Databases> {
  const { dataDir, databaseUrl } = config;
  if (databaseUrl === undefined) return openPools(await startEmbedded(dataDir, surroundings), {}, surroundings);
  const { logger } = surroundings;
  await onConnection(config.migrationDatabaseUrl ?? databaseUrl, logger, async (owner) => {
    await assertDurable(owner);
    await migrate(owner, { logger });
  });
  return connect({ ...config, databaseUrl }, surroundings);
}

/** Connects to a database that `tokenkeep migrate` sees to; rejects where its schema is not this program's. */
export async function connectToMigrated(config: ConnectionConfig, surroundings: Surroundings): Promise<Databases> {
  await onConnection(config.databaseUrl, surroundings.logger, async (database) => {
    await assertDurable(database);
    await assertMigrated(database);
  });
  return connect(config, surroundings);
}
