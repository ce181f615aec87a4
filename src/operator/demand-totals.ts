import type { ReactorDemand } from '../domain/declarations.ts';
import type { StopReason } from '../domain/reactor-supervision.ts';
import type { ObservedDemand } from './scaling.ts';

/** What one replica of the API told of demand. */
export interface DemandReport {
  demands: readonly ReactorDemand[];
  /** When, in milliseconds since the epoch. */
  at: number;
}

export interface TotalDemand extends ObservedDemand {
  /** Why its code had to be stopped again and again, at any of the replicas. */
  failure?: StopReason;
}

/** For so long, what a replica of the API told counts although it tells no more. */
const KEPT_MS = 10_000;

/**
 * Adds up what all replicas of the API told, `undefined` for one that has told nothing yet. Undefined where none of
 * them told anything of late.
 */
export function sumDemand(
  reports: readonly (DemandReport | undefined)[],
  nowMs: number,
): ((tenantId: string, reactorId: string) => TotalDemand) | undefined {
  const recent = reports.filter((report) => report !== undefined && nowMs - report.at < KEPT_MS);
  if (recent.length === 0) return undefined;
  const isWhole = recent.length === reports.length;
  const byReactor = Map.groupBy(
    recent.flatMap((report) => report?.demands ?? []),
    ({ tenantId, reactorId }) => `${tenantId}/${reactorId}`,
  );
  return (tenantId, reactorId) => {
    const demands = byReactor.get(`${tenantId}/${reactorId}`) ?? [];
    const total = (of: (demand: ReactorDemand) => number) => demands.reduce((sum, demand) => sum + of(demand), 0);
    const failure = demands.find((demand) => demand.failure !== undefined)?.failure;
    return {
      average: { stable: total(({ average }) => average.stable), panic: total(({ average }) => average.panic) },
      isWhole,
      ...(failure === undefined ? {} : { failure }),
    };
  };
}
