import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClaimedInvocation, claimInvocation, type Stage } from '../../../data/invocation-claims.ts';
import { renewLease } from '../../../data/invocation-progress.ts';
import type { Database } from '../../../data/database.ts';
import { withinTenant } from '../../../data/tenant-scope.ts';
import type { Logger } from '../../../platform/logger.ts';
import { LEASE_SECONDS } from './leases.ts';

export interface StageLimits {
  /** At a time in this process. */
  readonly inAll: number;
  readonly perTenant: number;
  readonly perReactor: number;
}

export interface StageWorkerOptions {
  readonly database: Database;
  readonly maintenance: Database;
  readonly stage: Stage;
  readonly limits: StageLimits;
  /** `signal` is aborted where the lease is lost, and where the time to stop is up. */
  readonly work: (claimed: ClaimedInvocation, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

/** Claims what is due in one stage, and looks after it; several processes share the work. */
export interface StageWorker {
  start(): void;
  /** Looks for work now. */
  poke(): void;
  /** Claims nothing more; what is in work may go on for `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** How often work of other processes, or whose time has come, is looked for. */
const POLL_MS = 1_000;
const RENEW_MS = (LEASE_SECONDS * 1000) / 3;

interface Job {
  claimed: ClaimedInvocation;
  done: Promise<void>;
  aborting: AbortController;
}

/** Those that have reached the limit. */
function fullOnes(ids: readonly string[], limit: number): string[] {
  return [...new Set(ids)].filter((id) => ids.filter((other) => other === id).length >= limit);
}

export function createStageWorker(options: StageWorkerOptions): StageWorker {
  const { database, maintenance, stage, limits, work, logger } = options;
  const jobs = new Set<Job>();
  let [stopped, isPoked] = [false, false];
  let filling: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** What is due of tenants of whom nothing is in work comes first: a long backlog of one holds up no other. */
  async function claim(): Promise<ClaimedInvocation | undefined> {
    const claimed = [...jobs].map((job) => job.claimed);
    const tenants = claimed.map(({ tenantId }) => tenantId);
    const request = {
      ...{ stage, lease: randomUUID(), leaseSeconds: LEASE_SECONDS },
      busyReactors: fullOnes(
        claimed.map(({ reactorId }) => reactorId),
        limits.perReactor,
      ),
    };
    const ofOthers = await claimInvocation(maintenance, { ...request, busyTenants: fullOnes(tenants, 1) });
    if (ofOthers !== undefined || jobs.size === 0) return ofOthers;
    return claimInvocation(maintenance, { ...request, busyTenants: fullOnes(tenants, limits.perTenant) });
  }

  /** Until the work is done. Postgres being away is not the loss of a lease: nobody else can claim meanwhile. */
  async function keepLease(claimed: ClaimedInvocation, aborting: AbortController, done: AbortSignal): Promise<void> {
    for (;;) {
      await delay(RENEW_MS, undefined, { signal: done });
      const isMine = await renewLease(database, claimed, LEASE_SECONDS).catch(() => true);
      if (!isMine) return aborting.abort();
    }
  }

  async function look(claimed: ClaimedInvocation, aborting: AbortController): Promise<void> {
    const done = new AbortController();
    void keepLease(claimed, aborting, done.signal).catch(() => undefined);
    try {
      await work(claimed, aborting.signal);
    } catch (error) {
      logger.warn({ stage, error }, 'Asynchronous invocation not looked after; it is claimed again');
    } finally {
      done.abort();
    }
  }

  function begin(claimed: ClaimedInvocation): void {
    const aborting = new AbortController();
    const done = withinTenant(claimed.tenantId, () => look(claimed, aborting));
    const job = { claimed, done, aborting };
    jobs.add(job);
    void done.then(() => {
      jobs.delete(job);
      poke();
    });
  }

  async function fill(): Promise<void> {
    while (isPoked && !stopped) {
      isPoked = false;
      while (!stopped && jobs.size < limits.inAll) {
        const claimed = await claim();
        if (claimed === undefined) break;
        // One that was claimed as the worker stopped is anybody's once its lease has run out.
        if (!stopped) begin(claimed);
      }
    }
  }

  function poke(): void {
    isPoked = true;
    if (stopped || filling !== undefined) return;
    filling = fill()
      .catch((error: unknown) => logger.debug({ stage, error }, 'Asynchronous invocations not claimed'))
      .finally(() => (filling = undefined));
  }

  return {
    start() {
      timer = setInterval(poke, POLL_MS).unref();
      poke();
    },
    poke,
    async stop(graceMs) {
      stopped = true;
      clearInterval(timer);
      await filling;
      const done = Promise.all([...jobs].map((job) => job.done));
      const grace = new AbortController();
      await Promise.race([done, delay(graceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
      grace.abort();
      for (const { aborting } of jobs) aborting.abort();
      await done;
    },
  };
}
