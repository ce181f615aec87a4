import { DomainError } from '../domain/errors.ts';
import type { LogEntry } from '../domain/logs.ts';

/** The audit log as reads and uses write it. Changes write their entries in their own statements. */
export interface Audit {
  /**
   * Resolves once the entries are committed; what they speak of must not leave before. Throws 'unavailable' where the
   * log cannot be written.
   */
  record(entries: readonly LogEntry[]): Promise<void>;
}

/** Entries that one statement inserts at most. */
const BATCH = 500;

interface Waiting {
  entries: readonly LogEntry[];
  settle: PromiseWithResolvers<void>;
}

/**
 * Commits in groups: entries that come while a statement is under way share the next one, so that concurrent reads
 * cost one insert, and a lone read waits for nobody.
 */
export function createAudit(insert: (entries: readonly LogEntry[]) => Promise<void>): Audit {
  const waiting: Waiting[] = [];
  let flushing = false;

  function takeBatch(): Waiting[] {
    let count = 0;
    const end = waiting.findIndex((request) => (count += request.entries.length) > BATCH);
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(end, 1));
  }

  async function flush(): Promise<void> {
    flushing = true;
    while (waiting.length > 0) {
      const batch = takeBatch();
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
    flushing = false;
  }

  return {
    async record(entries) {
      if (entries.length === 0) return;
      const settle = Promise.withResolvers<void>();
      waiting.push({ entries, settle });
      if (!flushing) void flush();
      await settle.promise;
    },
  };
}
