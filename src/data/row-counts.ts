import type { Queryable, Statement } from './database.ts';

/** What a statement that gives one row gives as its `count`: mostly how many rows it removed. */
export async function runForCount(
  queryable: Queryable,
  statement: Statement,
  values?: readonly unknown[],
): Promise<number> {
  const [row] = await queryable.run<{ count: number }>(statement, values);
  return row!.count;
}
