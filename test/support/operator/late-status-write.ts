import { createResourceWrites } from '../../../src/operator/sources/kubernetes/resource-writes.ts';
import { pathOf, type CustomObject } from '../../../src/operator/sources/kubernetes/objects.ts';
import type { ObjectRef, ResourceKind, ResourceStatus } from '../../../src/operator/sources/types.ts';
import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';

/**
 * Has the operator's own code write the status that is there, believing the object to be as it was before the last
 * change: what happens where somebody changes it while it is reconciled.
 */
export async function writeStatusTooLate(client: KubernetesClient, ref: ObjectRef<ResourceKind>): Promise<void> {
  const { metadata, status } = (await client.read<CustomObject>(pathOf(ref)))!;
  const { uid } = metadata;
  let known = { uid, resourceVersion: '1', finalizers: metadata.finalizers ?? [] };
  const writes = createResourceWrites(client, {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    get: () => known,
    observe: (_, answer) => void (known = { ...known, resourceVersion: answer.metadata.resourceVersion }),
  });
  await writes.writeStatus(ref, status as unknown as ResourceStatus);
}
