import { createChangeWatch } from '../../kubernetes/change-watch.ts';
import { createReflector } from '../../kubernetes/reflector.ts';
import type { WatchLoop } from '../../kubernetes/watch-loop.ts';
import { MANAGED_BY, MANAGED_BY_LABEL } from '../secret-marks.ts';
import type { ReferentKind, ResourceListener } from '../types.ts';
import { coreCollection } from './objects.ts';
import type { MetadataObject } from './objects.ts';
import type { OwnSecretChanges } from './own-secret-changes.ts';
import type { Watching } from './watching.ts';

const REFERENT_KINDS: readonly ReferentKind[] = ['ConfigMap', 'Secret'];
const OUR_SECRETS = { labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}`, metadataOnly: true };

/**
 * Watches over what resources refer to. Of other people's ConfigMaps and Secrets nothing is kept, so that a cluster full
 * of them costs no memory; of the operator's own Secrets, names and versions.
 */
export function createReferentWatches(
  watching: Watching,
  listener: ResourceListener,
  ownSecrets: OwnSecretChanges,
): Pick<WatchLoop, 'start' | 'stop'>[] {
  return watching.namespaces.flatMap((namespace) => [
    ...REFERENT_KINDS.map((kind) =>
      createChangeWatch({
        ...watching.loopOver(coreCollection(kind, namespace)),
        listener: {
          changed(name) {
            if (kind === 'Secret' && ownSecrets.isCovered(name)) return;
            listener.referentChanged({ kind, ...name });
          },
          gap: () => listener.referentsMissed(kind),
        },
      }),
    ),
    createReflector<MetadataObject, MetadataObject>({
      ...watching.loopOver(coreCollection('Secret', namespace)),
      selection: OUR_SECRETS,
      transform: ({ metadata: { namespace: place, name, uid, resourceVersion, creationTimestamp } }) => ({
        metadata: {
          ...(place === undefined ? {} : { namespace: place }),
          name,
          uid,
          resourceVersion,
          creationTimestamp,
        },
      }),
      listener: { applied: (object) => ownSecrets.observed(object), removed: (name) => ownSecrets.gone(name) },
    }),
  ]);
}
