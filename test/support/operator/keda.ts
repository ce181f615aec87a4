import type { KubernetesCluster } from '../kubernetes/control-plane.ts';

/** As much of KEDA as the operator meets: its kind. */
const DEFINITION = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'scaledobjects.keda.sh' },
  spec: {
    ...{ group: 'keda.sh', scope: 'Namespaced' },
    names: { kind: 'ScaledObject', plural: 'scaledobjects', singular: 'scaledobject' },
    versions: [
      {
        ...{ name: 'v1alpha1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** Resolves once the API server serves the kind; it stays for the whole cluster. */
export async function installKeda(cluster: KubernetesCluster): Promise<void> {
  await cluster.demand(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(DEFINITION) });
  await cluster.demand(['wait', '--for=condition=Established', '--timeout=60s', `crd/${DEFINITION.metadata.name}`]);
}
