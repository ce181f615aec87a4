import type { Clock } from './clock.ts';

/** Settles when the part that it asks about can serve, 'degraded' where only for a while; rejects when it cannot. */
export type ReadinessCheck = () => Promise<void | 'degraded'>;

export interface Readiness {
  readonly ready: boolean;
  /** Names of what is not ready; `draining` while the process stops. */
  readonly failures: readonly string[];
  /** Names of what serves for a while yet, unless it is mended. */
  readonly degraded: readonly string[];
}

/** Whether this process may be sent requests. */
export interface Health {
  /** Names appear in answers that anybody may read. */
  addCheck(name: string, check: ReadinessCheck): void;
  readiness(): Promise<Readiness>;
  /** From now on not ready, so that load balancers turn away before connections close. */
  drain(): void;
  readonly draining: boolean;
}

export interface HealthOptions {
  /** A check that has not settled by then counts as failed. */
  readonly checkTimeoutMs?: number;
  /** How long one result answers everybody: anybody may ask, and checks take connections. */
  readonly sharedMs?: number;
  /** Only differences of it count. */
  readonly clock?: Clock;
}

/** Turned back, a wall clock would keep a result for long. */
const monotonicClock: Clock = { now: () => performance.now() };

const DRAINING: Readiness = { ready: false, failures: ['draining'], degraded: [] };

export function createHealth({
  checkTimeoutMs = 2_000,
  sharedMs = 500,
  clock = monotonicClock,
}: HealthOptions = {}): Health {
  const checks = new Map<string, ReadinessCheck>();
  let draining = false;
  let shared: { readonly until: number; readonly result: Promise<Readiness> } | undefined;

  async function runChecks(): Promise<Readiness> {
    const results = await Promise.all(
      [...checks].map(async ([name, check]) => ({ name, outcome: await outcomeOf(check, checkTimeoutMs) })),
    );
    const namesOf = (wanted: Outcome): string[] =>
      results.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);
    const failures = namesOf('failed');
    return { ready: failures.length === 0, failures, degraded: namesOf('degraded') };
  }

  /** The result that is being found out, or was within the time that it is shared for. */
  function sharedResult(): Promise<Readiness> {
    if (shared === undefined || clock.now() >= shared.until) {
      const result = runChecks().finally(() => (shared = { until: clock.now() + sharedMs, result }));
      shared = { until: Infinity, result };
    }
    return shared.result;
  }

  return {
    addCheck(name, check) {
      if (checks.has(name)) throw new Error(`a readiness check named ${name} exists`);
      checks.set(name, check);
    },
    async readiness() {
      if (draining) return DRAINING;
      const result = await sharedResult();
      return draining ? DRAINING : result;
    },
    drain() {
      draining = true;
    },
    get draining() {
      return draining;
    },
  };
}

/** What `GET /readyz` answers, wherever it is served. */
export async function readinessAnswer(health: Health): Promise<{ status: number; body: object }> {
  const { ready, failures, degraded } = await health.readiness();
  return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'not ready', failures, degraded } };
}

type Outcome = 'passed' | 'degraded' | 'failed';

async function outcomeOf(check: ReadinessCheck, timeoutMs: number): Promise<Outcome> {
  const { promise: expiry, resolve } = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => resolve('failed'), timeoutMs);
  try {
    return await Promise.race([expiry, check().then((found): Outcome => found ?? 'passed')]);
  } catch {
    return 'failed';
  } finally {
    clearTimeout(timer);
  }
}
