import type { ReactorDemand, ReactorInstance } from '../domain/declarations.ts';
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

export function createReactorClient(_options: ReactorClientOptions = {}): ReactorClient {
  throw new Error('not built yet');
}
