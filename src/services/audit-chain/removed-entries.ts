import type { Queryable } from '../../data/database.ts';
import { logRemovedAt } from '../../data/log-horizon.ts';
import type { QueuedEntry } from '../../domain/audit-chain.ts';

/** Entries that are gone with their tenants. */
export interface RemovedEntries {
  /** How many, by the tenant. */
  readonly counts: ReadonlyMap<string, number>;
  /** Counts an entry that is gone, where the log of its tenant was removed after it was written. */
  explains(entry: Pick<QueuedEntry, 'tenantId' | 'queuedAt'>): Promise<boolean>;
}

/** Asks the database once for each tenant: whole chains of a deleted one may be gone. */
export function createRemovedEntries(database: Queryable): RemovedEntries {
  const counts = new Map<string, number>();
  const removals = new Map<string, Date>();

  async function isRemoved({ tenantId, queuedAt }: Pick<QueuedEntry, 'tenantId' | 'queuedAt'>): Promise<boolean> {
    const known = removals.get(tenantId);
    if (known !== undefined && queuedAt <= known) return true;
    // What is known may be outdated: a tenant can be deleted meanwhile, and more than once.
    const removedAt = await logRemovedAt(database, tenantId);
    if (removedAt !== undefined) removals.set(tenantId, removedAt);
    return removedAt !== undefined && queuedAt <= removedAt;
  }

  return {
    counts,
    async explains(entry) {
      if (!(await isRemoved(entry))) return false;
      counts.set(entry.tenantId, (counts.get(entry.tenantId) ?? 0) + 1);
      return true;
    },
  };
}
