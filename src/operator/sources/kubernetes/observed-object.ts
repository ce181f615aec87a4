import type { CustomResource, ResourceKind, ResourceStatus } from '../types.ts';
import type { CustomObject } from './objects.ts';

/** What is kept of an object: what reconcilers read, and which finalizers hold it. */
export interface ObservedObject {
  resource: CustomResource;
  uid: string;
  resourceVersion: string;
  finalizers: readonly string[];
}

// A second copy of the whole object, with whatever secrets a configuration holds.
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Leaves out all that nobody reads: there may be thousands of objects. */
export function toObserved(kind: ResourceKind, object: CustomObject): ObservedObject {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  return { resource: toResource(kind, object), uid, resourceVersion, finalizers };
}

function toResource(kind: ResourceKind, { metadata, spec = {}, status }: CustomObject): CustomResource {
  const { namespace = '', name, uid, resourceVersion, generation = 0, creationTimestamp, deletionTimestamp } = metadata;
  const { [LAST_APPLIED]: _copy, ...annotations } = metadata.annotations ?? {};
  return {
    kind,
    metadata: {
      ...{ namespace, name, uid, resourceVersion, generation, creationTimestamp },
      ...{ labels: metadata.labels ?? {}, annotations },
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec,
    // Whoever may write status may have left out the conditions.
    ...(status === undefined ? {} : { status: { ...status, conditions: conditionsIn(status) } }),
  };
}

function conditionsIn(status: { conditions?: unknown }): ResourceStatus['conditions'] {
  return Array.isArray(status.conditions) ? (status.conditions as ResourceStatus['conditions']) : [];
}
