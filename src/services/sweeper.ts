import { sweepExpiredApplications } from '../data/applications.ts';
import { destroyDueDataKeys } from '../data/data-keys.ts';
import type { Database } from '../data/database.ts';
import { sweepExpiredAnswers, sweepOrphanedAnswers } from '../data/idempotent-answer-removal.ts';
import { sweepInvocations } from '../data/invocation-claims.ts';
import { sweepHeads } from '../data/log-heads.ts';
import { raiseLogHorizon, sweepRemovedTenants } from '../data/log-horizon.ts';
import { sweepLinks } from '../data/log-links.ts';
import { clearUnpartitionedLogs, dropLogPartitions, makeLogPartitions } from '../data/logs.ts';
import { dropEmptyTokenCounts, foldTokenCounts } from '../data/token-counts.ts';
import { sweepExpiredSessions } from '../data/sessions.ts';
import { clearExpiredCvcs, sweepExpiredTokens, sweepOrphanedTokens } from '../data/token-expiry.ts';
import { sweepWebhookSecrets } from '../data/webhook-secrets.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import { removeInBatches, type RemoveRows } from './batches.ts';

export interface Sweeper {
  /** Runs one sweep now; rejects where a part of it failed. */
  sweep(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface SweeperOptions {
  /** Of the sweeper: it works across tenants. */
  readonly database: Database;
  readonly dataKeys: DataKeys;
  /** Sees to it that no backup gives a code back whose data key is destroyed; gives how many master keys that cost. */
  readonly shredCvcKeys: () => Promise<number>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly intervalMs?: number;
}

/** Rows that one statement removes. */
const BATCH = 1_000;
const INTERVAL_MS = 30_000;
/** In seconds: the removal of a large tenant takes minutes. */
const DURATION_BUCKETS = [0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900];
/** Partitions made ahead: enough to outlast a long outage of every sweeper. */
const LOG_HOURS_AHEAD = 48;

/**
 * Removes what has expired: tokens, card verification codes and the data keys that sealed them, kept answers, results
 * of asynchronous invocations and what signed them, sessions, applications, and logs past every retention with what
 * they are chained by; and what was left behind, tokens by a deleted tenant and answers by an application that is gone.
 * Sums up the counts of tokens. Readers are already kept from all of it; several replicas may sweep at once.
 */
export function createSweeper({
  database,
  dataKeys,
  shredCvcKeys,
  logger,
  metrics,
  intervalMs = INTERVAL_MS,
}: SweeperOptions): Sweeper {
  const swept = metrics.counter({ name: 'swept_total', help: 'Expired rows removed, by kind.', labels: ['kind'] });
  const failures = metrics.counter({ name: 'sweep_failures_total', help: 'Sweeps that failed in part.' });
  const lastSuccess = metrics.gauge({
    name: 'sweep_last_success_timestamp_seconds',
    help: 'When this process last swept with no part failing, in seconds since the Unix epoch.',
  });
  const duration = metrics.histogram({
    name: 'sweep_duration_seconds',
    help: 'Time that a sweep took, whether or not a part of it failed.',
    buckets: DURATION_BUCKETS,
  });
  const stopping = new AbortController();
  const inBatches = (remove: RemoveRows): Promise<number> =>
    removeInBatches(remove, database, { size: BATCH, signal: stopping.signal });

  // A destroyed key must not live on in memory.
  async function destroyDataKeys(): Promise<number> {
    const destroyed = await destroyDueDataKeys(database);
    for (const { tenantId } of destroyed) dataKeys.forget(tenantId);
    return destroyed.length;
  }

  // What is dropped before the log says so would be found missing.
  async function pastHorizon(drop: () => Promise<number>): Promise<number> {
    await raiseLogHorizon(database);
    return drop();
  }

  const tasks: readonly [kind: string, run: () => Promise<number>][] = [
    ['cvc', () => inBatches(clearExpiredCvcs)],
    ['data_key', destroyDataKeys],
    ['cvc_master_key', shredCvcKeys],
    ['token', () => inBatches(sweepExpiredTokens)],
    ['orphaned_token', () => inBatches(sweepOrphanedTokens)],
    ['idempotent_answer', () => inBatches(sweepExpiredAnswers)],
    ['invocation', () => inBatches(sweepInvocations)],
    ['webhook_secret', () => inBatches(sweepWebhookSecrets)],
    ['session', () => inBatches(sweepExpiredSessions)],
    ['application', () => sweepExpiredApplications(database)],
    ['orphaned_answer', () => inBatches(sweepOrphanedAnswers)],
    ['log_partition', () => pastHorizon(() => dropLogPartitions(database))],
    ['unpartitioned_log', () => pastHorizon(() => inBatches(clearUnpartitionedLogs))],
    ['log_link', () => inBatches(sweepLinks)],
    ['log_head', () => inBatches(sweepHeads)],
    ['removed_tenant', () => sweepRemovedTenants(database)],
    ['token_count_change', () => inBatches(foldTokenCounts)],
    ['empty_token_count', () => inBatches(dropEmptyTokenCounts)],
  ];
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    const beganAt = performance.now();
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
    duration.observe((performance.now() - beganAt) / 1_000);
    if (errors.length > 0) {
      failures.inc();
      throw new AggregateError(errors, 'A sweep failed in part');
    }
    lastSuccess.setToCurrentTime();
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
      stopping.abort();
      await running;
      clearTimeout(timer);
    },
  };
}
