import { readDataKeyFigures } from '../../data/data-key-figures.ts';
import type { Database } from '../../data/database.ts';
import type { KeyManagement } from '../../keys/key-management.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { readKeyStatus } from './status.ts';

export interface KeyFigures {
  /** Reads all figures now; rejects where Postgres or key management does not answer. */
  read(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface KeyFiguresOptions {
  /** Of the sweeper: it sees the keys of all tenants. */
  readonly database: Database;
  readonly management: KeyManagement;
  readonly metrics: Metrics;
}

const INTERVAL_MS = 60_000;

/** How old and how used keys are, of all tenants together, and what of them an operator is to look after. */
export function createKeyFigures({ database, management, metrics }: KeyFiguresOptions): KeyFigures {
  const count = metrics.gauge({
    name: 'data_keys',
    help: 'Data keys of all tenants, by purpose.',
    labels: ['purpose'],
  });
  const oldest = metrics.gauge({
    name: 'data_key_oldest_active_seconds',
    help: 'Age of the oldest active data key, by purpose. One of a tenant that stores nothing is not replaced.',
    labels: ['purpose'],
  });
  const mostUses = metrics.gauge({
    name: 'data_key_most_uses',
    help: 'Encryptions reserved under the active data key that has most, by purpose.',
    labels: ['purpose'],
  });
  const masterAge = metrics.gauge({
    name: 'master_key_age_seconds',
    help: 'Age of the current version of the master key, by master key.',
    labels: ['master'],
  });
  const behind = metrics.gauge({
    name: 'data_keys_behind',
    help: 'Data keys that are wrapped under another than the current version of their master key.',
    labels: ['master'],
  });
  const attention = metrics.gauge({
    name: 'key_attention',
    help: 'Things that `tokenkeep keys status` says an operator is to do.',
  });

  async function read(): Promise<void> {
    for (const figures of await readDataKeyFigures(database)) {
      const { purpose } = figures;
      count.set({ purpose }, figures.count);
      oldest.set({ purpose }, figures.oldestActiveSeconds);
      mostUses.set({ purpose }, figures.mostUses);
    }
    const now = Date.now();
    const status = await readKeyStatus({ database, management }, now);
    for (const { master, versions, uses } of status.masters) {
      masterAge.set({ master }, Math.max(0, now - versions.currentSince.getTime()) / 1_000);
      const others = uses.filter(({ version }) => version !== versions.current);
      behind.set(
        { master },
        others.reduce((sum, { dataKeys }) => sum + dataKeys, 0),
      );
    }
    attention.set(status.attention.length);
  }

  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;

  function loop(): void {
    // Whether key management answers is told elsewhere; the figures stay as they were read last.
    running = read()
      .catch(() => undefined)
      .then(() => {
        if (!isStopped) timer = setTimeout(loop, INTERVAL_MS).unref();
      });
  }

  return {
    read,
    start: loop,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
