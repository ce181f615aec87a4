import type { ReactorCluster } from './reactor-cluster.ts';

/** Has a namespace take no further object of a kind, such as `deployments.apps`. Returns what lifts that. */
export async function allowNone(
  bench: ReactorCluster,
  namespace: string,
  counted: string,
): Promise<() => Promise<void>> {
  const at = { group: '', version: 'v1', plural: 'resourcequotas', namespace };
  const name = 'none';
  const hard = { [`count/${counted}`]: '0' };
  await bench.admin.create(at, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard } });
  // As the controller of quotas does, which these tests do not run.
  await bench.admin.mergePatch({ ...at, name, subresource: 'status' }, { status: { hard, used: hard } });
  return () => bench.admin.remove({ ...at, name });
}
