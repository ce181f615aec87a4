import { setTimeout as delay } from 'node:timers/promises';
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
const ANSWER_TIMEOUT_MS = 5_000;
// A server that is gone without a word never closes the connection, and the system gives up on it after a quarter hour.
const RELEASE_TIMEOUT_MS = 2_000;

/**
 * Takes the lock of this name among all who share the database, however they are connected; undefined where another
 * session has it. It ends with its connection, so also with its process, however that ends. Throws a DomainError
 * 'unavailable' where Postgres cannot be reached.
 */
export async function tryAdvisoryLock(connectionString: string, name: string): Promise<AdvisoryLock | undefined> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    application_name: `tokenkeep ${name}`,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  client.on('end', () => lost.abort());
  try {
    await client.connect();
    await client.query(KEEP_ALIVE);
    const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK, [name]);
    if (rows[0]!.locked) return { lost: lost.signal, release: () => end(client) };
    await end(client);
    return undefined;
  } catch (error) {
    await end(client);
    throw translateFailure(error, 'advisory lock');
  }
}

/** Waits for the connection to be closed, though not for long: by then nothing of this process holds it any more. */
async function end(client: pg.Client): Promise<void> {
  const waited = new AbortController();
  const expiry = delay(RELEASE_TIMEOUT_MS, undefined, { signal: waited.signal }).catch(() => undefined);
  await Promise.race([client.end().catch(() => undefined), expiry]);
  waited.abort();
}
