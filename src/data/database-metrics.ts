import { Gauge } from 'prom-client';
import { DomainError } from '../domain/errors.ts';
import type { Metrics } from '../platform/metrics.ts';
import { StatementTimeout } from './failures.ts';

/** How many connections a pool has. */
export interface PoolState {
  readonly max: number;
  /** In use and idle. */
  readonly open: number;
  readonly idle: number;
  /** Callers who wait for one. */
  readonly waiting: number;
}

/** Told of what one pool does. */
export interface DatabaseObserver {
  follow(state: () => PoolState): void;
  /** A caller was given a connection. */
  connected(waitedMs: number): void;
  /** A statement ended; by its failure where there is one. */
  ran(tookMs: number, failure?: unknown): void;
}

/** `refused`: Postgres would not run it, a broken constraint included. `unavailable`: no answer, or no connection. */
type StatementResult = 'ok' | 'refused' | 'timeout' | 'unavailable';

/** A free connection takes no time; one that is made takes a round trip or more; a busy pool makes all wait. */
const WAIT_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** Makes an observer for each pool of the process, by its name. To be called once for a registry. */
export function createDatabaseMetrics(metrics: Metrics): (pool: string) => DatabaseObserver {
  const pools = new Map<string, () => PoolState>();
  const registers = [metrics.registry];
  const statements = metrics.histogram({
    name: 'postgres_statement_duration_seconds',
    help: 'Time from a statement’s sending to its answer, by pool and result: ok, refused, timeout or unavailable.',
    labels: ['pool', 'result'],
  });
  const waits = metrics.histogram({
    name: 'postgres_connection_wait_seconds',
    help: 'Time that callers waited for a connection of the pool.',
    labels: ['pool'],
    buckets: WAIT_BUCKETS,
  });
  new Gauge({
    name: 'tokenkeep_postgres_connections',
    help: 'Open connections to Postgres, by pool and state: idle or busy.',
    labelNames: ['pool', 'state'] as const,
    registers,
    collect() {
      for (const [pool, state] of pools) {
        const { open, idle } = state();
        this.set({ pool, state: 'idle' }, idle);
        this.set({ pool, state: 'busy' }, open - idle);
      }
    },
  });
  new Gauge({
    name: 'tokenkeep_postgres_connections_max',
    help: 'Connections that the pool may open.',
    labelNames: ['pool'] as const,
    registers,
    collect() {
      for (const [pool, state] of pools) this.set({ pool }, state().max);
    },
  });
  new Gauge({
    name: 'tokenkeep_postgres_callers_waiting',
    help: 'Callers who wait for a connection of the pool.',
    labelNames: ['pool'] as const,
    registers,
    collect() {
      for (const [pool, state] of pools) this.set({ pool }, state().waiting);
    },
  });
  return (pool) => {
    const ok = statements.labels({ pool, result: 'ok' });
    const wait = waits.labels({ pool });
    return {
      follow: (state) => void pools.set(pool, state),
      connected: (waitedMs) => wait.observe(waitedMs / 1_000),
      ran(tookMs, failure) {
        const seconds = tookMs / 1_000;
        if (failure === undefined) ok.observe(seconds);
        else statements.observe({ pool, result: resultOf(failure) }, seconds);
      },
    };
  };
}

function resultOf(failure: unknown): StatementResult {
  if (failure instanceof StatementTimeout) return 'timeout';
  return failure instanceof DomainError && failure.kind === 'unavailable' ? 'unavailable' : 'refused';
}
