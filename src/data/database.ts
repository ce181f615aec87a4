import pg from 'pg';
import { DomainError } from '../domain/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { noTracing, type Tracing } from '../platform/tracing.ts';
import { ConnectionTenants } from './connection-tenants.ts';
import type { DatabaseObserver } from './database-metrics.ts';
import { StatementTimeout, translateFailure } from './failures.ts';
import type { GroupRole } from './group-roles.ts';

/** One SQL statement. With a name, each connection plans it once; without one, it is planned for its values. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  /** Waits for its answer as long as Postgres works on it; its transaction sets what bounds it there. */
  readonly unbounded?: true;
}

/** Runs statements: the database itself, each statement on its own, or one transaction of it. */
export interface Queryable {
  /**
   * The rows that a statement gives. Throws a DomainError 'unavailable' where Postgres cannot be reached or does not
   * answer in time (a StatementTimeout where it ends the statement itself), a SqlError where it refuses the statement.
   * None carries SQL text or values.
   */
  run<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Queryable {
  /** Connections at most. */
  readonly poolSize: number;
  /** Commits when `work` resolves and rolls back when it rejects. Isolation is read committed. */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>;
  /** Rejects where Postgres does not answer. */
  ping(): Promise<void>;
  /** Waits for connections in use. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly connectionString: string;
  readonly logger: Logger;
  /** Connections at most; times the replicas of the API, this stays below Postgres's max_connections. */
  readonly poolSize?: number;
  /** How long a caller waits for a free connection, or for a new one to be made. */
  readonly connectionTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
  readonly idleInTransactionTimeoutMs?: number;
  /** How Postgres lists these connections. */
  readonly applicationName?: string;
  /** Whether each statement is confined to the tenant in whose scope it is run; see `withinTenant`. */
  readonly tenantScoped?: boolean;
  /** The group whose privileges the connections have, in place of those of their user. */
  readonly role?: GroupRole | undefined;
  readonly observer?: DatabaseObserver | undefined;
  readonly tracing?: Tracing | undefined;
}

/** Added to Postgres's own time limit, so that this one ends only what Postgres can no longer be asked about. */
const ANSWER_MARGIN_MS = 2_000;
/** The longest that a timer takes; pg reads 0 as "no limit of this statement's own". */
const UNBOUNDED_MS = 2 ** 31 - 1;

export function createDatabase(options: DatabaseOptions): Database {
  const { connectionString, logger, poolSize = 10, statementTimeoutMs = 10_000, tenantScoped = false } = options;
  const { observer, tracing = noTracing } = options;
  const pool = new pg.Pool({
    connectionString,
    max: poolSize,
    connectionTimeoutMillis: options.connectionTimeoutMs ?? 5_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_MARGIN_MS,
    lock_timeout: options.lockTimeoutMs ?? 5_000,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 15_000,
    application_name: options.applicationName ?? 'tokenkeep',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Setting the tenant of a connection costs no round trip of its own.
    pipeline: tenantScoped,
    ...(options.role === undefined ? {} : { options: `-c role=${options.role}` }),
  });
  const tenants = tenantScoped ? new ConnectionTenants() : undefined;
  // Without listeners, a connection that Postgres closes, idle or in use, would end the process.
  pool.on('error', (error) => logger.warn({ error }, 'Idle connection to Postgres lost'));
  pool.on('connect', (client) => client.on('error', () => undefined));

  observer?.follow(() => {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = pool;
    return { max: poolSize, open, idle, waiting };
  });

  async function connect(): Promise<pg.PoolClient> {
    const askedAt = performance.now();
    try {
      const client = await pool.connect();
      observer?.connected(performance.now() - askedAt);
      return client;
    } catch (error) {
      throw translateFailure(error, 'connect');
    }
  }

  function runOn<Row>(client: pg.PoolClient, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const name = statement.name ?? 'statement';
    const part = { name: `postgres ${name}`, attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name } };
    return tracing.part(part, () => observed(() => query<Row>(client, statement, values)));
  }

  async function observed<Result>(work: () => Promise<Result>): Promise<Result> {
    const sentAt = performance.now();
    try {
      const result = await work();
      observer?.ran(performance.now() - sentAt);
      return result;
    } catch (error) {
      observer?.ran(performance.now() - sentAt, error);
      throw error;
    }
  }

  async function query<Row>(client: pg.PoolClient, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    try {
      const { name, text, unbounded } = statement;
      const limit = unbounded ? { query_timeout: UNBOUNDED_MS } : {};
      const result = await client.query({ name, text, values: values as unknown[], ...limit });
      return result.rows as Row[];
    } catch (error) {
      throw translateFailure(error, statement.name ?? 'query');
    }
  }

  /** Runs the first statement of whoever has just been given the connection. */
  async function runFirst<Row>(client: pg.PoolClient, statement: Statement, values: readonly unknown[]) {
    const entering = tenants?.enter(client);
    if (entering === undefined) return runOn<Row>(client, statement, values);
    const entered = entering.catch((cause: unknown) => {
      throw new TenantNotEntered(cause);
    });
    const [, rows] = await Promise.all([entered, runOn<Row>(client, statement, values)]);
    return rows;
  }

  async function run<Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const client = await connect();
    try {
      const rows = await runFirst<Row>(client, statement, values);
      client.release();
      return rows;
    } catch (error) {
      client.release(isLost(error));
      throw error;
    }
  }

  return {
    poolSize,
    run,
    async transaction(work) {
      const client = await connect();
      const on: Queryable = { run: (statement, values = []) => runOn(client, statement, values) };
      let broken = false;
      try {
        // The tenant is set before the transaction begins, whose rollback would take it back.
        await runFirst(client, { text: 'begin' }, []);
        const result = await work(on);
        await on.run({ text: 'commit' });
        return result;
      } catch (error) {
        broken = isLost(error);
        // A connection that cannot roll back is not given to anybody else.
        if (!broken) await on.run({ text: 'rollback' }).catch(() => (broken = true));
        throw error;
      } finally {
        client.release(broken);
      }
    },
    async ping() {
      await run({ name: 'ping', text: 'select 1' });
    },
    close: () => pool.end(),
  };
}

/** Whose rows the connection would show is not known. */
class TenantNotEntered extends DomainError {
  constructor(cause: unknown) {
    super('unavailable', 'Postgres did not confirm whose data it is asked for.', { cause });
  }
}

function isLost(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unavailable' && !(error instanceof StatementTimeout);
}
