import type { DeclaredKind } from '../domain/declarations.ts';
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
  /** The resource whose status holds this place in the API. */
  findDeclared(kind: DeclaredKind, tenantId: string, id: string): AnyResource | undefined;
}

/** Indexed by kind and namespace, and by place in the API. */
export function createResourceStore(): ResourceStore {
  const kinds = new Map<string, Map<string, Map<string, AnyResource>>>();
  const byPlace = new Map<string, AnyResource>();

  const namespacesOf = (kind: string) => kinds.get(kind) ?? new Map<string, Map<string, AnyResource>>();

  function forgetPlace(resource: AnyResource | undefined): void {
    const place = resource && placeIn(resource);
    if (place !== undefined && byPlace.get(place) === resource) byPlace.delete(place);
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
      forgetPlace(before);
      const place = placeIn(resource);
      if (place !== undefined) byPlace.set(place, resource);
      return before;
    },
    remove({ kind, namespace, name }) {
      const resources = namespacesOf(kind).get(namespace);
      const before = resources?.get(name);
      resources?.delete(name);
      forgetPlace(before);
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
    findDeclared: (kind, tenantId, id) => byPlace.get(placeKey(kind, tenantId, id)),
  };
}

/** The API knows an object by its kind, tenant and id together: whoever writes a resource may name any id. */
function placeKey(kind: DeclaredKind, tenantId: string, id: string): string {
  return `${kind}/${tenantId}/${id}`;
}

function placeIn(resource: AnyResource): string | undefined {
  if (resource.kind === 'AccessRule' || resource.status?.id === undefined) return undefined;
  const { id } = resource.status;
  const tenantId = resource.kind === 'Tenant' ? id : resource.status.tenantId;
  return tenantId === undefined ? undefined : placeKey(resource.kind, tenantId, id);
}
