import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createDatabase, type Database } from '../data/database.ts';
import { isConfinedTo, readUserRights } from '../data/database-users.ts';
import { assertDurable } from '../data/durability.ts';
import { startEmbeddedPostgres } from '../data/embedded/postgres.ts';
import { API_ROLE, putLogin, SWEEPER_ROLE, type GroupRole } from '../data/group-roles.ts';
import { migrate } from '../data/migrate.ts';
import type { Logger } from '../platform/logger.ts';
import type { ShutdownStack } from '../platform/shutdown.ts';

/** Where the database is. Each may hold a password. */
export interface DatabaseConfig {
  /** Keeps the embedded Postgres. */
  readonly dataDir: string;
  /** For the API; the embedded Postgres is used where it is undefined. */
  readonly databaseUrl: string | undefined;
  /** For the sweeper; that of the API where it is undefined. */
  readonly maintenanceDatabaseUrl: string | undefined;
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
  readonly shutdown: ShutdownStack;
  /** Called where the embedded Postgres ends without having been asked to. */
  readonly fail: (error: Error) => void;
}

const POOL_SIZE = 20;
/** The sweeper does one thing at a time, and the control plane asks for little across tenants. */
const MAINTENANCE_POOL_SIZE = 4;

/** What the user of each pool is to be, and may not be more than. */
const USERS = [
  { role: API_ROLE, setting: '--database-url' },
  { role: SWEEPER_ROLE, setting: '--maintenance-database-url' },
] as const;

/** What the owner, on one connection, does before anybody else connects. */
async function asOwner<Result>(
  connectionString: string,
  logger: Logger,
  work: (owner: Database) => Promise<Result>,
): Promise<Result> {
  const owner = createDatabase({ connectionString, logger, poolSize: 1, applicationName: 'tokenkeep migrate' });
  try {
    return await work(owner);
  } finally {
    await owner.close();
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

async function startEmbedded(dataDir: string, { logger, shutdown, fail }: Surroundings) {
  const onExit = () => fail(new Error(`Postgres ended unexpectedly; its log is ${join(dataDir, 'postgres.log')}`));
  const postgres = await startEmbeddedPostgres({ dataDir, logger, onExit });
  shutdown.push('Postgres', () => postgres.stop());
  return asOwner(postgres.connectionString, logger, async (owner) => {
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
  const rights = await asOwner(connectionString, logger, readUserRights);
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

/** Finds the database or starts it, brings its schema up to date, and connects, each part as a user of its own. */
export async function openDatabases(config: DatabaseConfig, surroundings: Surroundings): Promise<Databases> {
  const { logger, shutdown } = surroundings;
  const { dataDir, databaseUrl } = config;
  let urls: Record<GroupRole, string>;
  const roles: Partial<Record<GroupRole, GroupRole | undefined>> = {};
  if (databaseUrl === undefined) {
    urls = await startEmbedded(dataDir, surroundings);
  } else {
    await asOwner(config.migrationDatabaseUrl ?? databaseUrl, logger, async (owner) => {
      await assertDurable(owner);
      await migrate(owner, { logger });
    });
    urls = { [API_ROLE]: databaseUrl, [SWEEPER_ROLE]: config.maintenanceDatabaseUrl ?? databaseUrl };
    for (const user of USERS) roles[user.role] = await findRole(urls[user.role], user, logger);
  }
  const open = (role: GroupRole, options: { poolSize: number; tenantScoped?: boolean; applicationName: string }) => {
    const pool = createDatabase({ connectionString: urls[role], role: roles[role], logger, ...options });
    shutdown.push(`${role} pool`, () => pool.close());
    return pool;
  };
  return {
    database: open(API_ROLE, { poolSize: POOL_SIZE, tenantScoped: true, applicationName: 'tokenkeep' }),
    maintenance: open(SWEEPER_ROLE, { poolSize: MAINTENANCE_POOL_SIZE, applicationName: 'tokenkeep maintenance' }),
    connectionString: urls[API_ROLE],
  };
}
