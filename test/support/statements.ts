import type { Database, Statement } from '../../src/data/database.ts';

/**
 * Shows `see` every statement that is run on its own while `during` is under way, before Postgres gets it; what `see`
 * throws, the statement fails with.
 */
export async function watchingStatements(
  database: Database,
  see: (statement: Statement) => void,
  during: () => Promise<void>,
): Promise<void> {
  const original = database.run.bind(database);
  database.run = async (statement, values) => {
    see(statement);
    return original(statement, values);
  };
  try {
    await during();
  } finally {
    database.run = original;
  }
}
