import type { DeclaredKind } from '../domain/declarations.ts';
import { adoptedId, tenantIdFor } from './identity.ts';
import type { ApplicationStatus } from './kinds/application.ts';
import type { AnyResource, ResourceOf } from './kinds/resources.ts';
import { lookupKeysOf, LOOKUPS } from './lookups.ts';
import type { FoundBy, LookupName } from './lookups.ts';
import { createIndex } from './resource-index.ts';
import type { ResourceIndex } from './resource-index.ts';
import { isOlder } from './resource-version.ts';
import type { ObjectRef, ResourceKind } from './sources/types.ts';

/** What became of a resource that was put. */
export interface Put {
  /** False where the store holds a newer version: an event may come after the answer of a later write. */
  taken: boolean;
  /** What the store held under this name before. */
  before?: AnyResource;
}

/** Every resource that the source told of: what reconcilers read. */
export interface ResourceStore {
  put(resource: AnyResource): Put;
  remove(ref: ObjectRef<ResourceKind>): AnyResource | undefined;
  get<Kind extends ResourceKind>(kind: Kind, namespace: string, name: string): ResourceOf[Kind] | undefined;
  /** Those of a kind, in one namespace or in all. */
  list<Kind extends ResourceKind>(kind: Kind, namespace?: string): ResourceOf[Kind][];
  /** Those that a lookup finds under a key of its own. */
  find<Name extends LookupName>(lookup: Name, key: string): ReadonlySet<FoundBy<Name>>;
  /** Those whose status tells of this place in the API; by mistake of whoever wrote them, there may be several. */
  listDeclared<Kind extends DeclaredKind>(kind: Kind, tenantId: string, id: string): ReadonlySet<ResourceOf[Kind]>;
  /** Those that ask for an id of the API in whatever tenant: by annotation, or for Tenants also by their name. */
  listAsking<Kind extends DeclaredKind>(kind: Kind, id: string): ReadonlySet<ResourceOf[Kind]>;
}

/** Indexed by kind and namespace, by place in the API, and for each lookup. */
export function createResourceStore(): ResourceStore {
  const kinds = new Map<string, Map<string, Map<string, AnyResource>>>();
  const byPlace = createIndex<AnyResource>(placeKeysOf);
  const byAskedId = createIndex<AnyResource>(askedKeysOf);
  const lookups = Object.fromEntries(
    (Object.keys(LOOKUPS) as LookupName[]).map((name) => [
      name,
      createIndex<AnyResource>((resource) => lookupKeysOf(name, resource)),
    ]),
  ) as Record<LookupName, ResourceIndex<AnyResource>>;
  const indexes = [byPlace, byAskedId, ...Object.values(lookups)];

  const namespacesOf = (kind: string) => kinds.get(kind) ?? new Map<string, Map<string, AnyResource>>();

  function replace(before: AnyResource | undefined, now: AnyResource | undefined): void {
    for (const index of indexes) {
      if (before !== undefined) index.remove(before);
      if (now !== undefined) index.add(now);
    }
  }

  return {
    put(resource) {
      const { namespace, name, resourceVersion } = resource.metadata;
      const namespaces = namespacesOf(resource.kind);
      const resources = namespaces.get(namespace) ?? new Map<string, AnyResource>();
      const before = resources.get(name);
      if (isOlder(resourceVersion, before?.metadata.resourceVersion)) return { taken: false, before };
      kinds.set(resource.kind, namespaces.set(namespace, resources.set(name, resource)));
      replace(before, resource);
      return { taken: true, before };
    },
    remove({ kind, namespace, name }) {
      const resources = namespacesOf(kind).get(namespace);
      const before = resources?.get(name);
      resources?.delete(name);
      if (resources?.size === 0) namespacesOf(kind).delete(namespace);
      replace(before, undefined);
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
    find<Name extends LookupName>(lookup: Name, key: string) {
      return lookups[lookup].find(key) as ReadonlySet<FoundBy<Name>>;
    },
    listDeclared<Kind extends DeclaredKind>(kind: Kind, tenantId: string, id: string) {
      return byPlace.find(placeKey(kind, tenantId, id)) as ReadonlySet<ResourceOf[Kind]>;
    },
    listAsking<Kind extends DeclaredKind>(kind: Kind, id: string) {
      return byAskedId.find(askedKey(kind, id)) as ReadonlySet<ResourceOf[Kind]>;
    },
  };
}

/** The API knows an object by its kind, tenant and id together: whoever writes a resource may name any id. */
function placeKey(kind: DeclaredKind, tenantId: string, id: string): string {
  return `${kind}/${tenantId}/${id}`;
}

/** The place in the API that the status of a resource tells of. */
export function placeInStatus({ kind, status }: AnyResource): { tenantId: string; id: string } | undefined {
  if (kind === 'AccessRule') return undefined;
  const { id, tenantId = kind === 'Tenant' ? id : undefined } = (status ?? {}) as ApplicationStatus;
  return id === undefined || tenantId === undefined ? undefined : { tenantId, id };
}

function placeKeysOf(resource: AnyResource): string[] {
  const place = placeInStatus(resource);
  return place === undefined ? [] : [placeKey(resource.kind as DeclaredKind, place.tenantId, place.id)];
}

function askedKey(kind: DeclaredKind, id: string): string {
  return `${kind}/${id}`;
}

function askedKeysOf({ kind, metadata }: AnyResource): string[] {
  if (kind === 'AccessRule') return [];
  const id = kind === 'Tenant' ? tenantIdFor(metadata) : adoptedId(metadata);
  return id === undefined ? [] : [askedKey(kind, id)];
}
