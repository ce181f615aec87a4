import type { DeclaredKind } from '../domain/declarations.ts';
import type { ApplicationResource } from './kinds/application.ts';
import type { ReactorResource } from './kinds/reactor.ts';
import { refOf } from './kinds/resources.ts';
import type { AnyResource } from './kinds/resources.ts';
import { refKey } from './object-ref.ts';

type CleanedResource = ApplicationResource | ReactorResource;

/**
 * Resources that were cleaned up after. A former leader that froze may send a declaration late: the API then holds
 * again, with a key that opens it, what no resource declares, and nobody else would ever delete that.
 */
export interface CleanedResources {
  /** To be called before it is cleaned up after: from then on, what comes back is noticed. */
  add(resource: AnyResource): void;
  /** The API has something at this place again. The key under which `toRepeat` has what declared it. */
  cameBack(kind: DeclaredKind, tenantId: string, id: string): string | undefined;
  /** The API may have something at any of these places again. The keys under which `toRepeat` has what declared it. */
  mayBeBack(): string[];
  /** What is to be cleaned up after once more. */
  toRepeat(key: string): AnyResource | undefined;
  repeated(key: string): void;
}

/** Late requests come within seconds of the deletion: the last ones are enough. */
const LIMIT = 1_000;

export function createCleanedResources(): CleanedResources {
  const keys = new Map<string, string>();
  const resources = new Map<string, CleanedResource>();
  const back = new Set<string>();
  const placeOf = (kind: string, tenantId = '', id = '') => `${kind}/${tenantId}/${id}`;

  function forget(key: string): void {
    const resource = resources.get(key);
    if (resource === undefined) return;
    resources.delete(key);
    keys.delete(placeOf(resource.kind, resource.status?.tenantId, resource.status?.id));
    back.delete(key);
  }

  return {
    add(resource) {
      if (resource.kind !== 'Application' && resource.kind !== 'Reactor') return;
      const key = refKey(refOf<'Application' | 'Reactor'>(resource));
      forget(key);
      resources.set(key, resource);
      keys.set(placeOf(resource.kind, resource.status?.tenantId, resource.status?.id), key);
      for (const oldest of resources.keys()) {
        if (resources.size <= LIMIT) break;
        forget(oldest);
      }
    },
    cameBack(kind, tenantId, id) {
      const key = keys.get(placeOf(kind, tenantId, id));
      if (key !== undefined) back.add(key);
      return key;
    },
    mayBeBack() {
      for (const key of resources.keys()) back.add(key);
      return [...resources.keys()];
    },
    toRepeat: (key) => (back.has(key) ? resources.get(key) : undefined),
    repeated: (key) => void back.delete(key),
  };
}
