import { setTimeout as delay } from 'node:timers/promises';
import type { ReactorDemand, ReactorIds, ReactorInstance } from '../domain/declarations.ts';
import { noTracing, type Tracing } from '../platform/tracing.ts';
import { FAILURES } from './errors.ts';
import { HeldBytes } from './held-bytes.ts';
import { ReactorPool } from './reactor-pool.ts';
import type { PoolObserver } from './reactor-pool.ts';
import { createTransport } from './transport.ts';
import type { Transport } from './transport.ts';
import type { CheckOutcome, Invocation, InvocationOutcome, Revised } from './types.ts';

/** The instances that the control plane says are ready. */
export interface InstanceDirectory {
  /** Puts the ready instances of a reactor, of all revisions; an empty list: none. */
  replace(tenantId: string, reactorId: string, instances: ReactorInstance[]): void;
  /** Puts the instance that checks code; undefined: none. */
  setChecker(instance: ReactorInstance | undefined): void;
}

export interface ReactorClientOptions {
  /** How instances are called; closed at the end. Default: over plain HTTP alone. */
  transport?: Transport;
  /**
   * Longest wait for a free instance, in ms. Default 20,000: a cold start takes less. A reactor's own timeout does not
   * shorten it: that bounds the code alone, and is often shorter than a start.
   */
  maxWaitMs?: number;
  /** Of the arguments of all invocations that wait, as JSON text. Default 64 MiB. */
  maxHeldBytes?: number;
  /** Longest time after a change for which instances of before may be used, in ms. Default 120,000. */
  overlapMs?: number;
  /** Of a check, its wait for the checker, its turn, its process and its code together, in ms. Default 30,000. */
  maxCheckMs?: number;
  /** Told where invocations of a reactor wait: at once, and about every second while more come. */
  onWaiting?: (tenantId: string, reactorId: string) => void;
  observer?: ClientObserver;
  tracing?: Tracing;
}

/** Told of what callers notice of reactors. */
export interface ClientObserver extends PoolObserver {
  /** An invocation ended, so long after it came. */
  ended(invocation: Invocation, outcome: InvocationOutcome, tookMs: number): void;
}

/** Runs reactors for the API: finds a free instance, holds requests until there is one, never runs code twice. */
export interface ReactorClient {
  /** Never rejects: every failure is an outcome. */
  invoke(invocation: Invocation): Promise<InvocationOutcome>;
  /**
   * Waits until invocations run with this revision of a reactor, for `maxMs` at most: until an instance of it is there,
   * or none of another one. Never rejects, also where `signal` is aborted.
   */
  rolledOut(reactor: ReactorIds & Revised, maxMs: number, signal?: AbortSignal): Promise<void>;
  /** Whether code compiles and exports a function, found out in a process of its own. Never rejects. */
  check(code: string): Promise<CheckOutcome>;
  /** Reactors that have invocations running or waiting, or had some within the last minute. */
  demand(): ReactorDemand[];
  /** Of all reactors together. */
  load(): { inFlight: number; waiting: number };
  instances: InstanceDirectory;
  /** Fails what waits as 'unavailable', lets running invocations end, closes connections. */
  stop(): Promise<void>;
}

const DEFAULT_MAX_WAIT_MS = 20_000;
const DEFAULT_MAX_CHECK_MS = 30_000;
/** As long as a Deployment of ours may make no progress, see `buildDeployment`: later it counts as failed. */
const DEFAULT_OVERLAP_MS = 120_000;
const CHECK_RETRY_MS = 50;

export function createReactorClient(options: ReactorClientOptions = {}): ReactorClient {
  const { maxWaitMs = DEFAULT_MAX_WAIT_MS, maxCheckMs = DEFAULT_MAX_CHECK_MS, observer, onWaiting } = options;
  const { transport = createTransport(), overlapMs = DEFAULT_OVERLAP_MS, tracing = noTracing } = options;
  const held = new HeldBytes(options.maxHeldBytes);
  const pools = new Map<string, { tenantId: string; reactorId: string; pool: ReactorPool }>();
  let checker: ReactorInstance | undefined;
  let stopped = false;

  function poolOf(tenantId: string, reactorId: string): ReactorPool {
    const key = `${tenantId}/${reactorId}`;
    let entry = pools.get(key);
    if (!entry) {
      const notice = onWaiting && (() => onWaiting(tenantId, reactorId));
      const pool = new ReactorPool({ transport, maxWaitMs, overlapMs, held, observer, onWaiting: notice });
      entry = { tenantId, reactorId, pool };
      pools.set(key, entry);
    }
    return entry.pool;
  }

  /** What is to be said of one is remembered for a minute: they are forgotten with the next question. */
  function forgetEmpty(): void {
    for (const [key, { pool }] of pools) if (pool.isEmpty) pools.delete(key);
  }

  async function invoke(invocation: Invocation): Promise<InvocationOutcome> {
    if (stopped) return { kind: 'unavailable' };
    return poolOf(invocation.tenantId, invocation.reactorId).invoke(invocation);
  }

  return {
    invoke(invocation) {
      const { reactorId } = invocation;
      const part = { name: 'reactor invoke', attributes: { 'tokenkeep.reactor.id': reactorId } };
      return tracing.part(part, async (span) => {
        const cameAt = performance.now();
        const trace = tracing.headers();
        const outcome = await invoke(span.traceId === undefined ? invocation : { ...invocation, trace });
        observer?.ended(invocation, outcome, performance.now() - cameAt);
        span.set({ 'tokenkeep.reactor.outcome': outcome.kind });
        if (Object.hasOwn(FAILURES, outcome.kind)) span.fail();
        return outcome;
      });
    },
    async rolledOut({ tenantId, reactorId, ...revised }, maxMs, signal) {
      if (!stopped) await poolOf(tenantId, reactorId).rolledOut(revised, maxMs, signal);
    },
    async check(code) {
      const since = performance.now();
      const deadline = since + Math.min(maxWaitMs, maxCheckMs);
      while (!stopped && performance.now() < deadline) {
        const leftMs = since + maxCheckMs - performance.now();
        const attempt = checker && (await transport.check(checker, code, leftMs));
        if (attempt && !attempt.refused) return attempt.outcome;
        await delay(CHECK_RETRY_MS);
      }
      return { ok: false, kind: 'unavailable' };
    },
    demand() {
      forgetEmpty();
      return [...pools.values()]
        .map(({ tenantId, reactorId, pool }) => demandOf(tenantId, reactorId, pool))
        .filter(({ average, failure }) => average.stable > 0 || failure !== undefined);
    },
    load() {
      const loads = [...pools.values()].map(({ pool: { inFlight, waiting } }) => ({ inFlight, waiting }));
      const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
      return {
        inFlight: sum(loads.map(({ inFlight }) => inFlight)),
        waiting: sum(loads.map(({ waiting }) => waiting)),
      };
    },
    instances: {
      replace(tenantId, reactorId, instances) {
        poolOf(tenantId, reactorId).replace(instances);
      },
      setChecker(instance) {
        checker = instance;
      },
    },
    async stop() {
      stopped = true;
      for (const { pool } of pools.values()) pool.close();
      while ([...pools.values()].some(({ pool }) => pool.inFlight > 0)) await delay(CHECK_RETRY_MS);
      transport.close();
    },
  };
}

function demandOf(tenantId: string, reactorId: string, pool: ReactorPool): ReactorDemand {
  const { inFlight, waiting, failure } = pool;
  const average = pool.average();
  return { tenantId, reactorId, inFlight, waiting, average, ...(failure === undefined ? {} : { failure }) };
}
