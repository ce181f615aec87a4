import { refKey } from '../../../src/operator/object-ref.ts';
import type { CustomResource, ObjectRef, ResourceListener } from '../../../src/operator/sources/types.ts';

/** Notes what it is told, as a line each, and keeps the newest version of each resource. */
export function createNotes() {
  const lines: string[] = [];
  const resources = new Map<string, CustomResource>();
  const versions: { key: string; version: bigint }[] = [];
  const listener: ResourceListener = {
    applied(resource) {
      const key = refKey({ kind: resource.kind, ...resource.metadata });
      lines.push(`applied ${key}`);
      resources.set(key, resource);
      versions.push({ key, version: BigInt(resource.metadata.resourceVersion ?? 0) });
    },
    removed(ref) {
      lines.push(`removed ${refKey(ref)}`);
      resources.delete(refKey(ref));
    },
    referentChanged: (ref) => void lines.push(`changed ${refKey(ref)}`),
    referentsMissed: (kind) => void lines.push(`missed ${kind}`),
    namespaceChanged: (name, labels) => void lines.push(`namespace ${name} ${JSON.stringify(labels ?? null)}`),
  };
  return { lines, resources, versions, listener, get: (ref: ObjectRef) => resources.get(refKey(ref)) };
}
