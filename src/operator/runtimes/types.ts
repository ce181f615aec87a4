import type { ReactorInstance, ReactorWorkload } from '../../domain/declarations.ts';

/** What runs of one reactor. */
export interface RuntimeState {
  tenantId: string;
  reactorId: string;
  /** The desired revision. */
  revision: string;
  /** Instances that answer; while a revision replaces another, of both. */
  ready: ReactorInstance[];
  desired: number;
  /** What a person can act on; absent while all is well. */
  failure?: string;
}

/** Runs reactors at a given scale: child processes on one machine, Deployments in a cluster. */
export interface ReactorRuntime {
  /**
   * Puts the desired state of one reactor and returns at once; `onChange` tells what becomes of it. Another revision
   * is started and ready before the one before it is drained.
   */
  apply(workload: ReactorWorkload, replicas: number): Promise<void>;
  /** Drains and ends all instances of a reactor; nothing happens where there are none. */
  remove(tenantId: string, reactorId: string): Promise<void>;
  list(): RuntimeState[];
  /** Called whenever the state of a reactor may have changed; with no instance and `desired: 0` when it is gone. */
  onChange(listener: (state: RuntimeState) => void): void;
  /** The instance that checks code, started at the first call; its address changes when it has to be replaced. */
  checker(): Promise<ReactorInstance>;
  /** Ends every instance within 5 s. */
  stop(): Promise<void>;
}
