import type { ReactorScaling } from '../domain/declarations.ts';

/** What is known of the demand for one reactor. */
export interface DemandHistory {
  /** Invocations running and held, now. */
  demand: number;
  /** When there last was any, in milliseconds since the epoch. */
  lastDemandAt: number;
  /** Replicas that were last asked for. */
  replicas: number;
}

/**
 * How many replicas to run: enough for the demand at once, and down to the minimum only after `idleSeconds` without
 * any, since a replica that ends too early costs a cold start.
 */
export function desiredReplicas(scaling: ReactorScaling, history: DemandHistory, nowMs: number): number {
  const clamp = (replicas: number) => Math.min(Math.max(replicas, scaling.minReplicas), scaling.maxReplicas);
  const needed = clamp(Math.ceil(history.demand / scaling.concurrency));
  const isIdle = history.demand === 0 && nowMs - history.lastDemandAt >= scaling.idleSeconds * 1000;
  return isIdle ? clamp(0) : Math.max(needed, clamp(history.replicas));
}
