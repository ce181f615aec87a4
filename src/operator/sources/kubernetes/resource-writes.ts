import type { KubernetesClient } from '../../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../../platform/kubernetes/errors.ts';
import { renderRef } from '../../object-ref.ts';
import type { ObjectRef, ResourceKind, ResourceSource, ResourceStatus } from '../types.ts';
import { identityOf, pathOf } from './objects.ts';
import type { CustomObject } from './objects.ts';
import type { ResourceWatches, WritableObject } from './resource-watches.ts';
import { buildStatusCleanup } from './status-cleanup.ts';

/** Holds a deleted object until what was declared for it is cleaned up. */
const FINALIZER = 'tokenkeep.dev/cleanup';
// Of its own: applied under the name that status is written under, either would take the other's fields away.
const FINALIZER_MANAGER = 'tokenkeep-operator-finalizer';

type ResourceWrites = Pick<ResourceSource, 'writeStatus' | 'setFinalizer'>;

// Each one that fails means that somebody else wrote in between.
const ATTEMPTS = 5;
const GONE_OR_CHANGED = [404, 409, 422];

/** Writes what is the operator's of an object: its status, and its own finalizer among those of others. */
export function createResourceWrites(client: KubernetesClient, watches: ResourceWatches): ResourceWrites {
  /** The object as it is now, where a write failed because it is not what it was; undefined where it is gone. */
  async function lookAgain(
    ref: ObjectRef<ResourceKind>,
    uid: string,
    error: unknown,
  ): Promise<CustomObject | undefined> {
    const isExpected = error instanceof KubernetesError && GONE_OR_CHANGED.includes(error.status ?? 0);
    if (!isExpected) throw error;
    const present = await client.read<CustomObject>(pathOf(ref));
    return present?.metadata.uid === uid ? present : undefined;
  }

  /** Writes to the object as it is known, and again as it has become where that failed. Does nothing once it is gone. */
  async function writeTo(
    ref: ObjectRef<ResourceKind>,
    known: WritableObject,
    write: (known: WritableObject) => Promise<CustomObject>,
  ): Promise<void> {
    for (let attempt = 1, target = known; ; attempt++) {
      try {
        watches.observe(ref, await write(target));
        return;
      } catch (error) {
        const present = await lookAgain(ref, known.uid, error);
        if (present === undefined) return;
        const { resourceVersion, finalizers = [] } = present.metadata;
        if (attempt === ATTEMPTS || resourceVersion === target.resourceVersion) throw error;
        watches.observe(ref, present);
        target = { uid: known.uid, resourceVersion, finalizers };
      }
    }
  }

  async function applyStatus(
    ref: ObjectRef<ResourceKind>,
    status: ResourceStatus,
    { uid, resourceVersion }: WritableObject,
  ): Promise<CustomObject> {
    const at = { ...pathOf(ref), subresource: 'status' };
    const { metadata, ...identity } = identityOf(ref, uid);
    // Unlike apply to the object itself, apply to its status does not look at the uid.
    const object = { ...identity, metadata: { ...metadata, resourceVersion }, status };
    const answer = await client.apply<CustomObject>(at, object);
    const cleanup = buildStatusCleanup(answer.status, status);
    if (cleanup === undefined) return answer;
    return client.mergePatch(at, { metadata: versionOf(answer.metadata), status: cleanup });
  }

  function addFinalizer(ref: ObjectRef<ResourceKind>, { uid }: WritableObject): Promise<CustomObject> {
    const { metadata, ...identity } = identityOf(ref, uid);
    const object = { ...identity, metadata: { ...metadata, finalizers: [FINALIZER] } };
    return client.apply<CustomObject>(pathOf(ref), object, FINALIZER_MANAGER);
  }

  /**
   * By a patch of the whole list: apply would leave a finalizer that came with the manifest, as from a backup, since
   * another manager owns it too.
   */
  async function removeFinalizer(ref: ObjectRef<ResourceKind>, known: WritableObject): Promise<CustomObject> {
    const others = known.finalizers.filter((finalizer) => finalizer !== FINALIZER);
    const metadata = { ...versionOf(known), finalizers: others.length === 0 ? null : others };
    const answer = await client.mergePatch<CustomObject>(pathOf(ref), { metadata });
    if (answer.metadata.finalizers?.includes(FINALIZER)) {
      throw new Error(`The finalizer of ${renderRef(ref)} was taken off, and put there again at once`);
    }
    return answer;
  }

  return {
    async writeStatus(ref, status) {
      const known = watches.get(ref);
      if (known !== undefined) await writeTo(ref, known, (target) => applyStatus(ref, status, target));
    },
    async setFinalizer(ref, present) {
      const known = watches.get(ref);
      if (known === undefined || known.finalizers.includes(FINALIZER) === present) return;
      await writeTo(ref, known, (target) => (present ? addFinalizer(ref, target) : removeFinalizer(ref, target)));
    },
  };
}

/** What makes a merge patch conditional on this very version of this very object. */
function versionOf({ uid, resourceVersion }: Pick<WritableObject, 'uid' | 'resourceVersion'>): object {
  return { uid, resourceVersion };
}
