import type { ReactorInstance, ReactorWorkload, ScalingEngine } from '../../domain/declarations.ts';

/** What keeps instances of a reactor from answering. `failure` says it in words, and what to do. */
export type FailureReason =
  /** The code cannot be loaded at all, whatever checked it before. */
  | 'CodeRefused'
  /** The code is stopped again and again: it takes too long, too much memory, or crashes. */
  | 'Degraded'
  /** What the API stores of the reactor cannot be opened: what runs is left as it is. */
  | 'Damaged'
  /** The cluster cannot get the image of instances. */
  | 'ImagePullFailed'
  /** Instances end soon after their start, not by the code. */
  | 'CrashLooping'
  /** A quota of the namespace leaves no room. */
  | 'QuotaExceeded'
  /** No node has room. */
  | 'Unschedulable'
  /** The namespace, or the cluster's admission, does not let such pods in. */
  | 'PodRefused'
  /** Instances run and do not become ready. */
  | 'NotReady'
  /** The reactor asks to be scaled by KEDA, which is not installed. */
  | 'ScalerMissing'
  /** The cluster refused what the operator asked of it. */
  | 'ClusterRefused'
  /** What all certificates are issued by is not usable as it is stored. */
  | 'AuthorityUnusable';

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
  /** Present where the runtime can tell, with `failure` alone. */
  failureReason?: FailureReason;
}

/** Runs reactors at a given scale: child processes on one machine, Deployments in a cluster. */
export interface ReactorRuntime {
  /** Why nothing can run, in words for a person; undefined where reactors run. */
  readonly nowhere?: string;
  /** What it can leave the scale to. Absent: `Builtin` alone, which does the work of any other there. */
  readonly engines?: readonly ScalingEngine[];
  /**
   * Puts the desired state of one reactor and returns at once; `onChange` tells what becomes of it. Another revision
   * is started and ready before the one before it is drained. Without `replicas`, others decide how many run, such as
   * KEDA: the scale is left as it is, and a reactor that is new begins with its `minReplicas`.
   */
  apply(workload: ReactorWorkload, replicas: number | undefined): Promise<void>;
  /** Drains and ends all instances of a reactor; nothing happens where there are none. */
  remove(tenantId: string, reactorId: string): Promise<void>;
  list(): RuntimeState[];
  /** Resolves once `list` tells of all that ran before this one was made. Absent: it does from the start. */
  readonly known?: Promise<void>;
  /** Called whenever the state of a reactor may have changed; with no instance and `desired: 0` when it is gone. */
  onChange(listener: (state: RuntimeState) => void): void;
  /** The instance that checks code, started at the first call; its address changes when it has to be replaced. */
  checker(): Promise<ReactorInstance>;
  /** What keeps that instance from answering, in words for a person; undefined while all is well, or not known. */
  checkerFailure?(): string | undefined;
  /** Ends every instance within 5 s. */
  stop(): Promise<void>;
}
