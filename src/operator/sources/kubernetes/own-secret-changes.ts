import { nameOf } from '../../kubernetes/objects.ts';
import type { ObjectName } from '../../kubernetes/objects.ts';
import { isOlder } from '../../resource-version.ts';
import type { MetadataObject } from './objects.ts';

/** Tells what others do to the operator's Secrets from what this process does itself. */
export interface OwnSecretChanges {
  /** Writes a Secret; what the watch tells of it meanwhile is judged by the version that the write answers. */
  write<Answer extends MetadataObject>(name: ObjectName, write: () => Promise<Answer>): Promise<void>;
  /** New or changed. */
  observed(object: MetadataObject): void;
  /** Deleted, or no longer marked as ours. */
  gone(name: ObjectName): void;
  /** Whether the watch over our own Secrets tells of this one. */
  isCovered(name: ObjectName): boolean;
}

/** What was told last while a write is under way. */
interface UnderWay {
  told?: MetadataObject | 'gone';
}

export function createOwnSecretChanges(changed: (name: ObjectName) => void): OwnSecretChanges {
  /** To the newest version that needs no second look. */
  const versions = new Map<string, string>();
  const underWay = new Map<string, UnderWay>();
  const keyOf = ({ namespace, name }: ObjectName) => `${namespace}/${name}`;

  function observed(object: MetadataObject): void {
    const name = nameOf(object);
    const key = keyOf(name);
    const writing = underWay.get(key);
    if (writing !== undefined) {
      writing.told = object;
      return;
    }
    const { resourceVersion } = object.metadata;
    const seen = versions.get(key);
    if (seen === resourceVersion || isOlder(resourceVersion, seen)) return;
    versions.set(key, resourceVersion);
    changed(name);
  }

  function gone(name: ObjectName): void {
    const key = keyOf(name);
    const writing = underWay.get(key);
    if (writing !== undefined) {
      writing.told = 'gone';
      return;
    }
    versions.delete(key);
    changed(name);
  }

  return {
    observed,
    gone,
    async write(name, write) {
      const key = keyOf(name);
      const writing: UnderWay = {};
      underWay.set(key, writing);
      try {
        const { metadata } = await write();
        versions.set(key, metadata.resourceVersion);
      } finally {
        underWay.delete(key);
        if (writing.told === 'gone') gone(name);
        else if (writing.told !== undefined) observed(writing.told);
      }
    },
    isCovered: (name) => versions.has(keyOf(name)) || underWay.has(keyOf(name)),
  };
}
