import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../data/database.ts';
import { queueState } from '../../data/log-queue.ts';
import type { KeyManagement } from '../../keys/key-management.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { createAnchors } from './anchors.ts';
import { createLinker } from './linker.ts';
import { repeat, type Repetition } from './repeat.ts';

/**
 * Chains the entries of the audit log by hash, so that what is altered, removed, added or reordered afterwards shows.
 *
 * Whatever statement writes entries queues them in its own transaction (see migration 0014). Each process takes from
 * the queue what nobody else has taken, and appends one link a batch to a chain of its own: requests wait for no chain,
 * and chains for none other. What an entry is bound to, it is bound to within moments of its commit; a change before
 * that moment, and an entry that is inserted as the program inserts them, are out of what a chain can show.
 *
 * A link holds the hash of the one before, and the first one of each hour the end of its writer's hour before: what is
 * cut out shows where it was. What is cut off at the end shows by its head, sealed each minute by the key management
 * and written to the log, and by the heads that other writers' links state.
 */
export interface AuditChain {
  /** Links all that waits now, and anchors; rejects where a part of it cannot be done. */
  flush(): Promise<void>;
  start(): void;
  /** Flushes for the last time, as far as that takes no longer than the deadline. */
  stop(): Promise<void>;
}

export interface AuditChainOptions {
  readonly database: Database;
  readonly keyManagement: KeyManagement;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Between two links, while there is always something to link, and at most between two looks into an empty queue. */
const BUSY_MS = 250;
const IDLE_MS = 1_000;
const ANCHOR_MS = 60_000;
const STATE_MS = 5_000;
const STOP_DEADLINE_MS = 3_000;

export function createAuditChain({ database, keyManagement, logger, metrics }: AuditChainOptions): AuditChain {
  const linker = createLinker({ database, logger });
  const anchors = createAnchors({ database, keyManagement, linker, logger });
  const linked = metrics.counter({ name: 'audit_entries_linked_total', help: 'Log entries that were linked.' });
  const failures = metrics.counter({
    name: 'audit_chain_failures_total',
    help: 'Attempts to link or to anchor that failed and are repeated.',
  });
  const waiting = metrics.gauge({ name: 'audit_unlinked_entries', help: 'Log entries that wait to be linked.' });
  const age = metrics.gauge({
    name: 'audit_unlinked_age_seconds',
    help: 'How long the oldest log entry that is not linked has waited.',
  });
  const anchoredAt = metrics.gauge({
    name: 'audit_last_anchor_timestamp_seconds',
    help: 'When the heads of this process were last sealed, in seconds since 1970.',
  });

  async function link(): Promise<number> {
    const count = await linker.linkOnce();
    linked.inc(count);
    return count;
  }

  async function anchor(): Promise<void> {
    await anchors.anchor();
    anchoredAt.set(Date.now() / 1000);
  }

  async function showQueue(): Promise<void> {
    const { entries, since, now } = await queueState(database);
    waiting.set(entries);
    age.set(since === null ? 0 : Math.max(0, now.getTime() - since.getTime()) / 1000);
  }

  async function flush(): Promise<void> {
    while ((await link()) > 0);
    await anchor();
  }

  const onFailure = (error: unknown, isFirst: boolean): void => {
    failures.inc();
    if (isFirst) logger.warn({ error }, 'Audit chain not written; it is tried again');
  };
  let pause = BUSY_MS;
  const paced = async (): Promise<number> => {
    pause = (await link()) > 0 ? BUSY_MS : Math.min(2 * pause, IDLE_MS);
    return pause;
  };
  let repetitions: Repetition[] = [];

  return {
    flush,
    start() {
      repetitions = [
        repeat(paced, { pauseMs: IDLE_MS, onFailure }),
        repeat(anchor, { pauseMs: ANCHOR_MS, onFailure }),
        repeat(showQueue, { pauseMs: STATE_MS, onFailure }),
      ];
    },
    async stop() {
      const deadline = new AbortController();
      const finished = Promise.all(repetitions.map((repetition) => repetition.stop()))
        .then(flush)
        .catch((error: unknown) => logger.warn({ error }, 'Audit chain not finished; the next start goes on with it'));
      await Promise.race([finished, delay(STOP_DEADLINE_MS, undefined, { signal: deadline.signal })]).finally(() =>
        deadline.abort(),
      );
    },
  };
}
