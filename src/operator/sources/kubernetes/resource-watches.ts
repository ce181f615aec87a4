import { createReflector } from '../../kubernetes/reflector.ts';
import type { Reflector } from '../../kubernetes/reflector.ts';
import { refKey } from '../../object-ref.ts';
import { RESOURCE_KINDS } from '../types.ts';
import type { ObjectRef, ResourceKind, ResourceListener } from '../types.ts';
import { collectionOf } from './objects.ts';
import type { CustomObject } from './objects.ts';
import { toObserved } from './observed-object.ts';
import type { ObservedObject } from './observed-object.ts';
import type { Watching } from './watching.ts';

/** What writing to an object takes. */
export type WritableObject = Omit<ObservedObject, 'resource'>;

/** Watches our own kinds, and knows of each object what writing to it takes. */
export interface ResourceWatches {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Undefined where it is gone. */
  get(ref: ObjectRef<ResourceKind>): WritableObject | undefined;
  /** Takes in what a write answered: whoever reads on finds it, however late the watch is. */
  observe(ref: ObjectRef<ResourceKind>, answer: CustomObject): void;
}

export function createResourceWatches(watching: Watching, listener: ResourceListener): ResourceWatches {
  const known = new Map<string, WritableObject>();
  const reflectors = new Map<string, Reflector<CustomObject>>();
  const placeOf = (kind: ResourceKind, namespace: string | undefined) => `${kind}/${namespace ?? ''}`;

  for (const kind of RESOURCE_KINDS) {
    const isClusterScoped = kind === 'Tenant';
    for (const namespace of isClusterScoped ? [undefined] : watching.namespaces) {
      const reflector = createReflector<CustomObject, ObservedObject>({
        ...watching.loopOver(collectionOf(kind, namespace)),
        transform: (object) => toObserved(kind, object),
        listener: {
          applied({ resource, ...writable }) {
            known.set(refKey({ kind, ...resource.metadata }), writable);
            listener.applied(resource);
          },
          removed(name) {
            known.delete(refKey({ kind, ...name }));
            listener.removed({ kind, ...name });
          },
        },
      });
      reflectors.set(placeOf(kind, namespace), reflector);
    }
  }

  return {
    async start() {
      await Promise.all([...reflectors.values()].map((reflector) => reflector.start()));
    },
    async stop() {
      await Promise.all([...reflectors.values()].map((reflector) => reflector.stop()));
    },
    get: (ref) => known.get(refKey(ref)),
    observe({ kind, namespace }, answer) {
      const reflector = reflectors.get(placeOf(kind, undefined)) ?? reflectors.get(placeOf(kind, namespace));
      reflector?.observe(answer);
    },
  };
}
