import type { KubernetesNode } from '../node/node.ts';

/** Creates objects, or brings them to what is given. */
export async function apply(node: KubernetesNode, objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  await node.demand(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(list) });
}

/** One that admits no pod beyond the Pod Security Standard `restricted`. */
export function restrictedNamespace(name: string): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

export function secret(namespace: string, name: string, entries: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: entries };
}
