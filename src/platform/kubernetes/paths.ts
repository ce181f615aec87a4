/** Where in the Kubernetes API an object, a collection or a subresource is. */
export interface ResourcePath {
  /** The empty string for the core group. */
  group: string;
  version: string;
  plural: string;
  /** Absent for a cluster-scoped kind, and for a list over all namespaces. */
  namespace?: string;
  /** Absent for a collection. */
  name?: string;
  subresource?: string;
}

/** Which objects of a collection. */
export interface Selection {
  labelSelector?: string;
  fieldSelector?: string;
  /** Only apiVersion, kind and metadata of each object (PartialObjectMetadata). */
  metadataOnly?: boolean;
}

export interface ListQuery extends Selection {
  /** Objects a page, at most. */
  limit?: number;
  /** From the page before. */
  continue?: string;
  /** `'0'`: any state that the API server remembers, which is cheaper. Default: the newest. */
  resourceVersion?: string;
}

export interface WatchQuery extends Selection {
  /** Events after this version. */
  resourceVersion: string;
  /** After how long the API server is to end the watch. */
  timeoutSeconds: number;
}

/** The path of a request, each part escaped. */
export function renderPath({ group, version, plural, namespace, name, subresource }: ResourcePath): string {
  const parts = group === '' ? ['api', version] : ['apis', group, version];
  if (namespace !== undefined) parts.push('namespaces', namespace);
  parts.push(plural);
  if (name !== undefined) parts.push(name);
  if (subresource !== undefined) parts.push(subresource);
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
