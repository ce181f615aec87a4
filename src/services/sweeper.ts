import { sweepExpiredApplications } from '../data/applications.ts';
import { destroyDueDataKeys } from '../data/data-keys.ts';
import type { Database, Queryable } from '../data/database.ts';
import { clearUnpartitionedLogs, dropLogPartitions, makeLogPartitions } from '../data/logs.ts';
import { dropEmptyTokenCounts, foldTokenCounts } from '../data/token-counts.ts';
import { sweepExpiredSessions } from '../data/sessions.ts';
import { clearExpiredCvcs, sweepExpiredTokens, sweepOrphanedTokens } from '../data/token-expiry.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';

export interface Sweeper {
  /** Runs one sweep now; rejects where a part of it failed. */
  sweep(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface SweeperOptions {
  readonly database: Database;
  readonly dataKeys: DataKeys;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly intervalMs?: number;
}

/** Rows that one statement removes, so that no statement holds locks for long. */
const BATCH = 1_000;
const INTERVAL_MS = 30_000;
/** Partitions made ahead: enough to outlast a long outage of every sweeper. */
const LOG_HOURS_AHEAD = 48;

async function inBatches(remove: (queryable: Queryable, limit: number) => Promise<number>, database: Database) {
  let removed = 0;
  let last: number;
  do {
    last = await remove(database, BATCH);
    removed += last;
  } while (last === BATCH);
  return removed;
}

/**
 * Removes what has expired: tokens, card verification codes and the data keys that sealed them, sessions, applications, and logs
 * past every retention; and tokens that a deleted tenant left behind. Readers are already kept from all of it; several replicas may sweep at once.
 */
export function createSweeper({
  database,
  dataKeys,
  logger,
  metrics,
  intervalMs = INTERVAL_MS,
}: SweeperOptions): Sweeper {
  const swept = metrics.counter({ name: 'swept_total', help: 'Expired rows removed, by kind.', labels: ['kind'] });
  const failures = metrics.counter({ name: 'sweep_failures_total', help: 'Sweeps that failed in part.' });
  // A destroyed key must not live on in memory.
  async function destroyDataKeys(): Promise<number> {
    const destroyed = await destroyDueDataKeys(database);
    for (const { tenantId } of destroyed) dataKeys.forget(tenantId);
    return destroyed.length;
  }

  const tasks: readonly [kind: string, run: () => Promise<number>][] = [
    ['cvc', () => inBatches(clearExpiredCvcs, database)],
    ['data_key', destroyDataKeys],
    ['token', () => inBatches(sweepExpiredTokens, database)],
    ['orphaned_token', () => inBatches(sweepOrphanedTokens, database)],
    ['session', () => inBatches(sweepExpiredSessions, database)],
    ['application', () => sweepExpiredApplications(database)],
    ['log_partition', () => dropLogPartitions(database)],
    ['unpartitioned_log', () => inBatches(clearUnpartitionedLogs, database)],
    ['token_count_change', () => inBatches(foldTokenCounts, database)],
    ['empty_token_count', () => inBatches(dropEmptyTokenCounts, database)],
  ];
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    const errors: unknown[] = [];
    await makeLogPartitions(database, LOG_HOURS_AHEAD).catch((error: unknown) => errors.push(error));
    for (const [kind, run] of tasks) {
      try {
        swept.inc({ kind }, await run());
      } catch (error) {
        // The rest need not wait for what failed.
        errors.push(error);
      }
    }
    if (errors.length > 0) {
      failures.inc();
      throw new AggregateError(errors, 'A sweep failed in part');
    }
  }

  function loop(): void {
    running = sweep()
      .catch((error: unknown) => logger.warn({ error }, 'Sweep failed; it is tried again'))
      .then(() => {
        timer = setTimeout(loop, intervalMs);
        timer.unref();
      });
  }

  return {
    sweep,
    start: loop,
    async stop() {
      await running;
      clearTimeout(timer);
    },
  };
}
