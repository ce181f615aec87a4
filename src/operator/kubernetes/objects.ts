/** What every object of the Kubernetes API has. */
export interface KubernetesObject {
  metadata: {
    name: string;
    /** Absent where the kind is cluster-scoped. */
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
  };
}

/** Names an object of a known kind; the namespace of a cluster-scoped one is the empty string. */
export interface ObjectName {
  namespace: string;
  name: string;
}

export function nameOf({ metadata }: KubernetesObject): ObjectName {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}
