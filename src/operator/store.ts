import type { AnyResource, ResourceOf } from './kinds/resources.ts';
import type { ObjectRef, ResourceKind } from './sources/types.ts';

/** Every resource that the source told of: what reconcilers read. */
export interface ResourceStore {
  /** Takes the resource in; answers the version before it. */
  put(resource: AnyResource): AnyResource | undefined;
  remove(ref: ObjectRef<ResourceKind>): AnyResource | undefined;
  get<Kind extends ResourceKind>(kind: Kind, namespace: string, name: string): ResourceOf[Kind] | undefined;
  /** Those of a kind, in one namespace or in all. */
  list<Kind extends ResourceKind>(kind: Kind, namespace?: string): ResourceOf[Kind][];
  /** The resource whose status holds this id of the API. */
  findById(id: string): AnyResource | undefined;
}

/** Indexed by kind and namespace, and by id. */
export function createResourceStore(): ResourceStore {
  const kinds = new Map<string, Map<string, Map<string, AnyResource>>>();
  const byId = new Map<string, AnyResource>();

  const namespacesOf = (kind: string) => kinds.get(kind) ?? new Map<string, Map<string, AnyResource>>();

  function idOf({ status }: AnyResource): string | undefined {
    return status !== undefined && 'id' in status ? status.id : undefined;
  }

  function forgetId(resource: AnyResource | undefined): void {
    const id = resource && idOf(resource);
    if (id !== undefined && byId.get(id) === resource) byId.delete(id);
  }

  return {
    put(resource) {
      const { namespace, name } = resource.metadata;
      const namespaces = namespacesOf(resource.kind);
      kinds.set(resource.kind, namespaces);
      const resources = namespaces.get(namespace) ?? new Map<string, AnyResource>();
      namespaces.set(namespace, resources);
      const before = resources.get(name);
      resources.set(name, resource);
      forgetId(before);
      const id = idOf(resource);
      if (id !== undefined) byId.set(id, resource);
      return before;
    },
    remove({ kind, namespace, name }) {
      const resources = namespacesOf(kind).get(namespace);
      const before = resources?.get(name);
      resources?.delete(name);
      forgetId(before);
      return before;
    },
    get<Kind extends ResourceKind>(kind: Kind, namespace: string, name: string) {
      return namespacesOf(kind).get(namespace)?.get(name) as ResourceOf[Kind] | undefined;
    },
    list<Kind extends ResourceKind>(kind: Kind, namespace?: string) {
      const namespaces = namespacesOf(kind);
      const groups =
        namespace === undefined
          ? [...namespaces.values()]
          : [namespaces.get(namespace) ?? new Map<string, AnyResource>()];
      return groups.flatMap((resources) => [...resources.values()]) as ResourceOf[Kind][];
    },
    findById: (id) => byId.get(id),
  };
}
