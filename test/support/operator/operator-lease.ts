import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';

/** What of an operator's Lease tells who leads, and whether it is alive. */
export interface OperatorLease {
  readonly holder: string;
  readonly renewTime: string | undefined;
}

/** Where the chart lets operators keep one. */
export const LEASE_NAMESPACE = 'tokenkeep-system';

const LEASE = {
  ...{ group: 'coordination.k8s.io', version: 'v1', plural: 'leases' },
  ...{ namespace: LEASE_NAMESPACE, name: 'tokenkeep-operator' },
};

/** Rejects where nobody leads. */
export async function readOperatorLease(client: KubernetesClient): Promise<OperatorLease> {
  const lease = await client.read<{ spec?: { holderIdentity?: string; renewTime?: string } }>(LEASE);
  const holder = lease?.spec?.holderIdentity ?? '';
  if (holder === '') throw new Error('Nobody leads');
  return { holder, renewTime: lease?.spec?.renewTime };
}

/** Forgets a leader that was killed, so that the next one need not wait for it. */
export function dropOperatorLease(client: KubernetesClient): Promise<void> {
  return client.remove(LEASE);
}
