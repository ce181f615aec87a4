import type { Database, Queryable } from './database.ts';

const BOUND = {
  name: 'bound-statements',
  text: `select set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
};

/**
 * Reads on one connection. Throws a StatementTimeout where a statement takes longer than `statementMs`; one that waits
 * for a lock that long is ended before, as 'unavailable': the statement is not to blame.
 */
export function readBounded<Result>(
  database: Database,
  statementMs: number,
  read: (on: Queryable) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (transaction) => {
    await transaction.run(BOUND, [`${statementMs}`, `${Math.ceil(statementMs / 2)}`]);
    return read(transaction);
  });
}
