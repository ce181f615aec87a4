import type { Clock } from '../../clock.ts';
import { refKey } from '../../object-ref.ts';
import type { CustomResource, ObjectRef, ResourceKind, ResourceStatus } from '../types.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { InventoryEntry } from './inventory.ts';
import { digestOfSpec } from './spec-digest.ts';
import type { ResourceRecord } from './status-file.ts';

/** What the folder itself does not hold about its resources: generation, status, finalizers, deletions under way. */
export interface Records {
  all(): ResourceRecord[];
  get(ref: ObjectRef): ResourceRecord | undefined;
  restore(records: readonly ResourceRecord[]): void;
  /** Takes note of a resource in force; whether anything but its place changed. */
  note(entry: InventoryEntry & { spec: JsonObject }): boolean;
  /** Begins the deletion; true where nothing has to be cleaned up, so that the record went at once. */
  markDeleted(ref: ObjectRef): boolean;
  setStatus(ref: ObjectRef, status: ResourceStatus): ResourceRecord | undefined;
  /** True where this was what held a deleted resource: its record is gone then. */
  setFinalizer(ref: ObjectRef, present: boolean): boolean;
}

/** Records in memory; the owner keeps them on disk. */
export function createRecords(clock: Clock): Records {
  const records = new Map<string, ResourceRecord>();
  const now = () => new Date(clock.now()).toISOString();

  return {
    all: () => [...records.values()],
    get: (ref) => records.get(refKey(ref)),
    restore(kept) {
      for (const record of kept) records.set(refKey(record.ref), record);
    },
    note({ ref, labels, annotations, spec, file }) {
      const before = records.get(refKey(ref));
      const specDigest = digestOfSpec(spec);
      const isSameSpec = before?.specDigest === specDigest;
      const record: ResourceRecord = {
        ...(before ?? { creationTimestamp: now(), finalizer: false }),
        ref: ref as ObjectRef<ResourceKind>,
        labels,
        annotations,
        file,
        specDigest,
        generation: (before?.generation ?? 0) + (isSameSpec ? 0 : 1),
        ...(ref.kind === 'Reactor' ? {} : { spec }),
      };
      records.set(refKey(ref), record);
      return !(
        isSameSpec &&
        digestOfSpec(before.labels) === digestOfSpec(labels) &&
        digestOfSpec(before.annotations) === digestOfSpec(annotations)
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
      generation,
      creationTimestamp,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}
