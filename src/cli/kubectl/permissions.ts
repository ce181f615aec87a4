import { PodConnectionError } from '../../platform/kubernetes/pod-connections.ts';
import type { Cluster } from './cluster.ts';
import { PluginError } from './plugin-error.ts';

interface AccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/** `get` is what clusters ask for where a connection begins as a GET, `create` what later ones ask for as well. */
const VERBS = ['get', 'create'] as const;

/**
 * Does what needs a connection to a pod. Where it does not come about, says which permission is missing, if any: the
 * refusal of a WebSocket says nothing.
 */
export async function withConnection<T>(
  cluster: Cluster,
  { namespace, subresource }: { readonly namespace: string; readonly subresource: 'portforward' | 'exec' },
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const reason = connectionError(error);
    if (reason === undefined) throw error;
    const denied: string[] = [];
    for (const verb of VERBS) if (!(await may(cluster, namespace, subresource, verb))) denied.push(verb);
    if (denied.length === 0) throw new PluginError(reason.message);
    throw new PluginError(
      `the cluster does not let you ${denied.join(' and ')} "pods/${subresource}" in the namespace "${namespace}"`,
    );
  }
}

function connectionError(error: unknown): PodConnectionError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof PodConnectionError) return each;
  return undefined;
}

async function may(cluster: Cluster, namespace: string, subresource: string, verb: string): Promise<boolean> {
  const reviews = { group: 'authorization.k8s.io', version: 'v1', plural: 'selfsubjectaccessreviews' };
  const { status } = await cluster.client.create<AccessReview>(reviews, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace, verb, group: '', resource: 'pods', subresource } },
  });
  return status?.allowed === true;
}
