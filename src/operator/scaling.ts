import type { DemandAverage, ReactorScaling } from '../domain/declarations.ts';

/** What is known of the demand for one reactor at all replicas of the API together. */
export interface ObservedDemand {
  average: DemandAverage;
  /** Whether every replica of the API has told. Else there may be more demand, and nothing is scaled down. */
  isWhole: boolean;
}

/** What one decision hands to the next. */
export interface ScalingState {
  /** Replicas that were last asked for. */
  replicas: number;
  /** When there last was any demand, or none could be told of, in milliseconds since the epoch. */
  lastDemandAt: number;
  /** While it lasts, replicas are added and none is taken away. In milliseconds since the epoch. */
  panicUntil?: number;
  /** When replicas were last taken away, likewise. */
  loweredAt?: number;
}

/**
 * The rules of Knative's autoscaler, under the names and with the values of its `config-autoscaler`, which its
 * `pkg/autoscaler/scaling` applies: years of use stand behind them.
 */
export const SCALING_RULES = {
  /** Of the concurrency of an instance, how much is meant to be used: the rest takes what comes unevenly. */
  targetUtilization: 0.7,
  stableWindowMs: 60_000,
  /** A tenth of the stable window. */
  panicWindowMs: 6_000,
  /** Demand of the panic window for so many times the replicas that were asked for is a burst. */
  panicThreshold: 2,
  maxScaleUpRate: 1_000,
  /** Of the replicas that were asked for, at least the half stays with each step down. */
  maxScaleDownRate: 2,
  /** Between two steps down, however often is decided. Knative's `tick-interval`. */
  stepDownMs: 2_000,
} as const;

// Averages are sums of fractions: what they miss by must not cost a whole replica.
const ROUNDING = 1e-9;

/** How it starts out: with replicas that are there already, of which none is to go before demand is known. */
export function startScaling(replicas: number, nowMs: number): ScalingState {
  const isWarm = replicas > 1;
  return { replicas, lastDemandAt: nowMs, ...(isWarm ? { panicUntil: nowMs + SCALING_RULES.stableWindowMs } : {}) };
}

/**
 * How many replicas to run: as many as the demand of the stable window asks for, or that of the panic window where it
 * is a burst. The last replica goes only after `idleSeconds` without any demand, since it costs the next caller a cold
 * start. Without demand that is known, all stays as it is, within the bounds.
 */
export function decideReplicas(
  scaling: ReactorScaling,
  state: ScalingState,
  demand: ObservedDemand | undefined,
  nowMs: number,
): ScalingState {
  const { minReplicas, maxReplicas, concurrency, idleSeconds } = scaling;
  const clamp = (replicas: number) => Math.min(Math.max(replicas, minReplicas), maxReplicas);
  if (demand === undefined) return { ...state, replicas: clamp(state.replicas), lastDemandAt: nowMs };

  const { average, isWhole } = demand;
  const lastDemandAt = average.panic > 0 || !isWhole ? nowMs : state.lastDemandAt;
  const isIdle = nowMs - lastDemandAt >= idleSeconds * 1000;
  const lowest = nowMs - (state.loweredAt ?? -Infinity) < SCALING_RULES.stepDownMs ? state.replicas : halfOf(state);
  const step = (replicas: number): Pick<ScalingState, 'replicas' | 'loweredAt'> => {
    const loweredAt = replicas < state.replicas ? nowMs : state.loweredAt;
    return { replicas, ...(loweredAt === undefined ? {} : { loweredAt }) };
  };
  if (isIdle) return { ...step(clamp(lowest)), lastDemandAt };

  const target = concurrency * SCALING_RULES.targetUtilization;
  const needed = (amount: number) => Math.ceil(amount / target - ROUNDING);
  const stable = needed(average.stable);
  const burst = needed(average.panic);
  const isBurst = burst / Math.max(state.replicas, 1) >= SCALING_RULES.panicThreshold;
  const panicUntil = isBurst ? nowMs + SCALING_RULES.stableWindowMs : state.panicUntil;
  const isPanic = panicUntil !== undefined && nowMs <= panicUntil;

  const wanted = isPanic ? Math.max(stable, burst) : stable;
  const least = isPanic || !isWhole ? state.replicas : Math.max(lowest, Math.min(state.replicas, 1));
  const most = SCALING_RULES.maxScaleUpRate * Math.max(state.replicas, 1);
  const replicas = clamp(Math.min(Math.max(wanted, least), most));
  return { ...step(replicas), lastDemandAt, ...(isPanic ? { panicUntil } : {}) };
}

function halfOf({ replicas }: ScalingState): number {
  return Math.floor(replicas / SCALING_RULES.maxScaleDownRate);
}
