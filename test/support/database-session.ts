import pg from 'pg';

/** One connection, on which tests run whatever SQL an attacker might. */
export interface DatabaseSession {
  /** The rows that a statement gives; rejects with Postgres's own error, whose `code` is its SQLSTATE. */
  query<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The SQLSTATE with which a statement is refused, else how many rows it gave or changed. */
  outcome(text: string, values?: readonly unknown[]): Promise<string | number>;
  /** Confines the connection to a tenant, as the API does; to none where it is empty. */
  enter(tenantId: string): Promise<void>;
  end(): Promise<void>;
}

export async function openDatabaseSession(connectionString: string): Promise<DatabaseSession> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return {
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      return (await client.query<Row>(text, [...values])).rows;
    },
    async outcome(text, values = []) {
      try {
        return (await client.query(text, [...values])).rowCount ?? 0;
      } catch (error) {
        if (error instanceof pg.DatabaseError && error.code !== undefined) return error.code;
        throw error;
      }
    },
    async enter(tenantId) {
      await client.query(`select set_config('tokenkeep.tenant_id', $1, false)`, [tenantId]);
    },
    end: () => client.end(),
  };
}
