import type { Database, Statement } from '../../../src/data/database.ts';

interface Seen {
  statement: Statement;
  values: readonly unknown[];
}

/** How Postgres runs each statement that reads, as `work` sends them. */
export async function explain(database: Database, work: (database: Database) => Promise<unknown>): Promise<string> {
  const seen: Seen[] = [];
  await work({
    ...database,
    async run(statement, values = []) {
      seen.push({ statement, values });
      return database.run(statement, values);
    },
  });
  const plans: string[] = [];
  for (const { statement, values } of seen) {
    if (/\b(insert|update|delete)\b/.test(statement.text)) continue;
    const text = `explain (analyze, buffers, settings) ${statement.text}`;
    const rows = await database.run<{ 'QUERY PLAN': string }>({ text }, values);
    plans.push(`${statement.text.trim()}\n\n${rows.map((row) => row['QUERY PLAN']).join('\n')}\n`);
  }
  return plans.join('\n');
}
