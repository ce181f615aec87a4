import { setTimeout as delay } from 'node:timers/promises';
import type { ReactorDemand, ReactorInstance } from '../domain/declarations.ts';
import { ReactorPool } from './reactor-pool.ts';
import { createTransport } from './transport.ts';
import type { CheckOutcome, Invocation, InvocationOutcome } from './types.ts';

/** The instances that the control plane says are ready. */
export interface InstanceDirectory {
  /** Puts the ready instances of a reactor, of all revisions; an empty list: none. */
  replace(tenantId: string, reactorId: string, instances: ReactorInstance[]): void;
  /** Puts the instance that checks code; undefined: none. */
  setChecker(instance: ReactorInstance | undefined): void;
}

export interface ReactorClientOptions {
  /** Longest wait for a free instance, in ms. Default 10,000. */
  maxWaitMs?: number;
  /** Invocations of one reactor that may wait. Default 100. */
  maxWaiting?: number;
}

/** Runs reactors for the API: finds a free instance, holds requests until there is one, never runs code twice. */
export interface ReactorClient {
  /** Never rejects: every failure is an outcome. */
  invoke(invocation: Invocation): Promise<InvocationOutcome>;
  /** Whether code compiles and exports a function, found out in a process of its own. Never rejects. */
  check(code: string): Promise<CheckOutcome>;
  /** Reactors that have invocations running or waiting. */
  demand(): ReactorDemand[];
  instances: InstanceDirectory;
  /** Fails what waits as 'unavailable', lets running invocations end, closes connections. */
  stop(): Promise<void>;
}

const DEFAULT_MAX_WAIT_MS = 10_000;
const DEFAULT_MAX_WAITING = 100;
const CHECK_RETRY_MS = 50;
/** A check waits its turn behind others, then for its process and its code. */
const CHECK_TIMEOUT_MS = 30_000;

export function createReactorClient(options: ReactorClientOptions = {}): ReactorClient {
  const { maxWaitMs = DEFAULT_MAX_WAIT_MS, maxWaiting = DEFAULT_MAX_WAITING } = options;
  const transport = createTransport();
  const pools = new Map<string, { tenantId: string; reactorId: string; pool: ReactorPool }>();
  let checker: ReactorInstance | undefined;
  let stopped = false;

  function poolOf(tenantId: string, reactorId: string): ReactorPool {
    const key = `${tenantId}/${reactorId}`;
    let entry = pools.get(key);
    if (!entry) {
      entry = { tenantId, reactorId, pool: new ReactorPool({ transport, maxWaitMs, maxWaiting }) };
      pools.set(key, entry);
    }
    return entry.pool;
  }

  function forgetIfEmpty(tenantId: string, reactorId: string): void {
    const key = `${tenantId}/${reactorId}`;
    if (pools.get(key)?.pool.isEmpty) pools.delete(key);
  }

  return {
    async invoke(invocation) {
      if (stopped) return { kind: 'unavailable' };
      const { tenantId, reactorId } = invocation;
      const outcome = await poolOf(tenantId, reactorId).invoke(invocation);
      forgetIfEmpty(tenantId, reactorId);
      return outcome;
    },
    async check(code) {
      const deadline = performance.now() + maxWaitMs;
      while (!stopped && performance.now() < deadline) {
        const attempt = checker && (await transport.check(checker, code, CHECK_TIMEOUT_MS));
        if (attempt && !attempt.refused) return attempt.outcome;
        await delay(CHECK_RETRY_MS);
      }
      return { ok: false, kind: 'unavailable' };
    },
    demand() {
      return [...pools.values()]
        .map(({ tenantId, reactorId, pool: { inFlight, waiting } }) => ({ tenantId, reactorId, inFlight, waiting }))
        .filter(({ inFlight, waiting }) => inFlight + waiting > 0);
    },
    instances: {
      replace(tenantId, reactorId, instances) {
        poolOf(tenantId, reactorId).replace(instances);
        forgetIfEmpty(tenantId, reactorId);
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
