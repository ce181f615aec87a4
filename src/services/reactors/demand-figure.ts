import type { ReactorClient } from '../../reactors/client.ts';

const PATH = /^\/reactors\/([^/]+)\/([^/]+)\/demand$/;

/**
 * The demand for one reactor at this replica of the API, at `/reactors/<tenantId>/<reactorId>/demand`, as an autoscaler
 * reads it: invocations running and held at a time, on average. It rises as fast as the last 6 s do, and falls as slow
 * as the last 60 s. Of a reactor that has none, or that nobody knows, 0. Undefined for any other path.
 */
export function demandFigure({ client }: { client: ReactorClient }, path: string): { average: number } | undefined {
  const [, tenantId, reactorId] = PATH.exec(path) ?? [];
  if (tenantId === undefined) return undefined;
  const demand = client.demand().find((each) => each.tenantId === tenantId && each.reactorId === reactorId);
  const { stable, panic } = demand?.average ?? { stable: 0, panic: 0 };
  // Rounded up: what little there is must not look like nothing.
  return { average: Math.ceil(Math.max(stable, panic) * 1_000) / 1_000 };
}
