import { isOlder } from '../resource-version.ts';
import { nameOf } from './objects.ts';
import type { KubernetesObject, ObjectName } from './objects.ts';

/** What is made of a version of an object that was told of. */
export type Verdict =
  /** Newer than what is known, or nothing is. */
  | 'new'
  /** The object that is known is gone, and this one has its name. */
  | 'another'
  /** Known already, or older than what is. */
  | 'old';

interface Known {
  name: ObjectName;
  uid: string | undefined;
  resourceVersion: string | undefined;
}

/** Which version of each object was told of last. Keeps names and versions, not the objects. */
export interface KnownObjects {
  judge(object: KubernetesObject): Verdict;
  note(object: KubernetesObject): void;
  /** Undefined where no such object is known, or a newer one of that name. */
  forget(object: KubernetesObject): ObjectName | undefined;
  /** Forgets all that `isKept` does not name, and answers them. */
  forgetOthers(isKept: (key: string) => boolean): ObjectName[];
  keyOf(object: KubernetesObject): string;
  /** Whether an object of this uid is known. */
  has(object: KubernetesObject): boolean;
}

export function createKnownObjects(): KnownObjects {
  const known = new Map<string, Known>();
  const keyOf = ({ metadata }: KubernetesObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

  return {
    keyOf,
    judge(object) {
      const before = known.get(keyOf(object));
      const { uid, resourceVersion } = object.metadata;
      if (before === undefined) return 'new';
      const isSame = resourceVersion !== undefined && resourceVersion === before.resourceVersion;
      if (isSame || isOlder(resourceVersion, before.resourceVersion)) return 'old';
      return before.uid === uid ? 'new' : 'another';
    },
    note(object) {
      const { uid, resourceVersion } = object.metadata;
      known.set(keyOf(object), { name: nameOf(object), uid, resourceVersion });
    },
    forget(object) {
      const key = keyOf(object);
      const before = known.get(key);
      if (before === undefined || isOlder(object.metadata.resourceVersion, before.resourceVersion)) return undefined;
      known.delete(key);
      return before.name;
    },
    forgetOthers(isKept) {
      const others = [...known].filter(([key]) => !isKept(key));
      for (const [key] of others) known.delete(key);
      return others.map(([, { name }]) => name);
    },
    has(object) {
      const before = known.get(keyOf(object));
      return before !== undefined && before.uid === object.metadata.uid;
    },
  };
}
