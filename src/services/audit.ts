import { DomainError } from '../domain/errors.ts';
import type { LogEntry } from '../domain/logs.ts';

/** The audit log as reads and uses write it. Changes write their entries in their own statements. */
export interface Audit {
  /**
   * Resolves once the entries, all of one tenant, are committed; what they speak of must not leave before. Throws
   * 'unavailable' where the log cannot be written.
   */
  record(entries: readonly LogEntry[]): Promise<void>;
}

/** Entries that one statement inserts at most. */
const BATCH = 500;

interface Waiting {
  entries: readonly LogEntry[];
  settle: PromiseWithResolvers<void>;
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let count = 0;
  const end = waiting.findIndex((request) => (count += request.entries.length) > BATCH);
  return waiting.splice(0, end === -1 ? waiting.length : Math.max(end, 1));
}

/**
 * Commits in groups: entries of a tenant that come while a statement of its is under way share the next one, so that
 * concurrent reads cost one insert, and a lone read waits for nobody. Those of several tenants never share one, for the
 * database takes from whoever works for a tenant nothing of another.
 */
export function createAudit(insert: (entries: readonly LogEntry[]) => Promise<void>): Audit {
  /** By tenant; those of which a statement is under way. */
  const queues = new Map<string, Waiting[]>();

  async function flush(tenantId: string, waiting: Waiting[]): Promise<void> {
    queues.set(tenantId, waiting);
    while (waiting.length > 0) {
      const batch = takeBatch(waiting);
      try {
        await insert(batch.flatMap((request) => request.entries));
        for (const { settle } of batch) settle.resolve();
      } catch (cause) {
        for (const { settle } of batch) {
          settle.reject(
            new DomainError('unavailable', 'The audit log cannot be written, so nothing is shown.', { cause }),
          );
        }
      }
    }
    queues.delete(tenantId);
  }

  return {
    async record(entries) {
      const [first] = entries;
      if (first === undefined) return;
      const settle = Promise.withResolvers<void>();
      const queue = queues.get(first.tenantId);
      if (queue === undefined) void flush(first.tenantId, [{ entries, settle }]);
      else queue.push({ entries, settle });
      await settle.promise;
    },
  };
}
