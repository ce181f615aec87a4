import type { QueuedEntry } from '../domain/audit-chain.ts';
import type { Queryable, Statement } from './database.ts';

// Rows that another linker has locked are its own. By an array, so that they are found by their index however long the
// queue is.
const TAKE: Statement = {
  name: 'take-unlinked-logs',
  text: `
    with locked as materialized (
      select queue_id, entries from log_unlinked order by queue_id limit $1 for update skip locked
    ), summed as (
      select queue_id, sum(entries) over (order by queue_id) - entries as before from locked
    )
    delete from log_unlinked
    where queue_id = any (array(select queue_id from summed where before < $1))
    returning queue_id::float8 as "position", queued_at as "queuedAt", tenant_ids as "tenantIds",
      created_ats as "createdAts", log_ids as "ids"`,
};

interface QueueRow {
  position: number;
  queuedAt: Date;
  tenantIds: string[];
  createdAts: Date[];
  ids: string[];
}

/**
 * Takes entries that wait to be linked, oldest first, in a transaction that links them. About `most`: what one
 * statement wrote is taken as a whole.
 */
export async function takeUnlinked(transaction: Queryable, most: number): Promise<QueuedEntry[]> {
  const rows = await transaction.run<QueueRow>(TAKE, [most]);
  rows.sort((left, right) => left.position - right.position);
  return rows.flatMap(({ queuedAt, tenantIds, createdAts, ids }) =>
    ids.map((id, index) => ({ tenantId: tenantIds[index]!, createdAt: createdAts[index]!, id, queuedAt })),
  );
}

/** What waits to be linked. */
export interface QueueState {
  entries: number;
  /** Since when the oldest waits; null where none does. */
  since: Date | null;
  /** By the database's clock. */
  now: Date;
}

const STATE: Statement = {
  name: 'state-of-unlinked-logs',
  text: `
    select coalesce(sum(entries), 0)::float8 as "entries", min(queued_at) as "since", clock_timestamp() as "now"
    from log_unlinked`,
};

export async function queueState(queryable: Queryable): Promise<QueueState> {
  const [state] = await queryable.run<QueueState>(STATE);
  return state!;
}
