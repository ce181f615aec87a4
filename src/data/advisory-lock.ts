import pg from 'pg';
import { translateFailure } from './failures.ts';

/** A lock that one session of Postgres holds, on a connection of its own. */
export interface AdvisoryLock {
  /** Aborted where the connection is lost, and with it the lock. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

const TRY_LOCK = `select pg_try_advisory_lock(hashtextextended($1, 0)) as "locked"`;
// Of a holder whose machine is gone, Postgres learns only by asking.
const KEEP_ALIVE = `set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3`;
const CONNECTION_TIMEOUT_MS = 5_000;

/**
 * Takes the lock of this name among all who share the database, however they are connected; undefined where another
 * session has it. It ends with its connection, so also with its process, however that ends. Throws a DomainError
 * 'unavailable' where Postgres cannot be reached.
 */
export async function tryAdvisoryLock(connectionString: string, name: string): Promise<AdvisoryLock | undefined> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    application_name: `tokenkeep ${name}`,
    keepAlive: true,
  });
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  try {
    await client.connect();
    await client.query(KEEP_ALIVE);
    const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK, [name]);
    if (rows[0]!.locked) return { lost: lost.signal, release: () => client.end() };
    await client.end();
    return undefined;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw translateFailure(error, 'advisory lock');
  }
}
