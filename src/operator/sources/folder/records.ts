import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Timers } from '../../timers.ts';
import { refKey } from '../../object-ref.ts';
import type { CustomResource, ObjectRef, ResourceKind, ResourceStatus } from '../types.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { InventoryEntry } from './inventory.ts';
import { digestOfSpec } from './spec-digest.ts';
import type { FolderMemory, ResourceRecord } from './status-file.ts';

/** What the folder itself does not hold about its resources: generation, status, finalizers, deletions under way. */
export interface Records {
  all(): ResourceRecord[];
  get(ref: ObjectRef): ResourceRecord | undefined;
  restore(memory: FolderMemory): void;
  /** What `restore` takes at the next start. */
  memory(): FolderMemory;
  /** Takes note of a resource in force; whether anything but its place changed. */
  note(entry: InventoryEntry & { spec: JsonObject }): boolean;
  /** Begins the deletion; true where nothing has to be cleaned up, so that the record went at once. */
  markDeleted(ref: ObjectRef): boolean;
  setStatus(ref: ObjectRef, status: ResourceStatus): ResourceRecord | undefined;
  /** True where this was what held a deleted resource: its record is gone then. */
  setFinalizer(ref: ObjectRef, present: boolean): boolean;
}

// Where kubectl keeps the whole document: with the configuration that is left out of a reactor's record.
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Records in memory; the owner keeps them on disk. */
export function createRecords(clock: Timers): Records {
  const records = new Map<string, ResourceRecord>();
  let salt: string = randomBytes(32).toString('base64');
  const now = () => new Date(clock.now()).toISOString();

  return {
    all: () => [...records.values()],
    get: (ref) => records.get(refKey(ref)),
    memory: () => ({ salt, records: [...records.values()] }),
    restore(kept) {
      salt = kept.salt;
      for (const record of kept.records) records.set(refKey(record.ref), record);
    },
    note({ ref, labels, annotations: given, spec, file }) {
      const { [LAST_APPLIED]: _copyOfSpec, ...annotations } = given;
      const before = records.get(refKey(ref));
      const specDigest = digestOfSpec(spec, salt);
      const isSameSpec = before?.specDigest === specDigest;
      const record: ResourceRecord = {
        ...(before ?? { creationTimestamp: now(), finalizer: false }),
        ref: ref as ObjectRef<ResourceKind>,
        labels,
        annotations,
        file,
        specDigest,
        generation: (before?.generation ?? 0) + (isSameSpec ? 0 : 1),
        ...(ref.kind === 'Reactor' ? { deletionPolicy: spec['deletionPolicy'] } : { spec }),
      };
      records.set(refKey(ref), record);
      return !(
        isSameSpec &&
        isDeepStrictEqual(before.labels, labels) &&
        isDeepStrictEqual(before.annotations, annotations)
      );
    },
    markDeleted(ref) {
      const record = records.get(refKey(ref));
      if (record?.finalizer) record.deletionTimestamp ??= now();
      else records.delete(refKey(ref));
      return !record?.finalizer;
    },
    setStatus(ref, status) {
      const record = records.get(refKey(ref));
      if (record !== undefined) record.status = status;
      return record;
    },
    setFinalizer(ref, present) {
      const record = records.get(refKey(ref));
      if (record === undefined) return false;
      record.finalizer = present;
      const isGone = !present && record.deletionTimestamp !== undefined;
      if (isGone) records.delete(refKey(ref));
      return isGone;
    },
  };
}

/** A record as reconcilers see it. */
export function toResource(record: ResourceRecord, spec: JsonObject): CustomResource {
  const { ref, labels, annotations, generation, creationTimestamp, deletionTimestamp, status } = record;
  return {
    kind: ref.kind,
    metadata: {
      namespace: ref.namespace,
      name: ref.name,
      labels,
      annotations,
      // A name is free again only some time after its document went: no two resources of a name are of one moment.
      uid: creationTimestamp,
      generation,
      creationTimestamp,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}
