/** What putting a declared resource did. Where nothing changed, nothing was written or logged. */
export type UpsertOutcome = 'created' | 'updated' | 'unchanged';

/** The outcome from the rows of a statement that gives `created` for the row it wrote, and no row otherwise. */
export function upsertOutcome(rows: readonly { created: boolean }[]): UpsertOutcome {
  const [row] = rows;
  if (row === undefined) return 'unchanged';
  return row.created ? 'created' : 'updated';
}

/** Of the entries handed to an upsert, picks the one whose operation is what happened to the row of `written`. */
export const LOG_AS_WRITTEN = `
      exists (select from written w where l.operation = case when w.created then 'create' else 'update' end)`;
