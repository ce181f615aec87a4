import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import type { EventRecorder } from '../kubernetes/event-recorder.ts';
import type { WatchLoop } from '../kubernetes/watch-loop.ts';
import { logEvent } from './event-log.ts';
import { createNamespaceWatch } from './kubernetes/namespace-watch.ts';
import { API_VERSION, coreCollection } from './kubernetes/objects.ts';
import type { ConfigMapObject, SecretObject } from './kubernetes/objects.ts';
import { createOwnSecretChanges } from './kubernetes/own-secret-changes.ts';
import { createOwnedSecrets } from './kubernetes/owned-secrets.ts';
import { createReferentWatches } from './kubernetes/referent-watches.ts';
import { createResourceWatches } from './kubernetes/resource-watches.ts';
import type { ResourceWatches } from './kubernetes/resource-watches.ts';
import { createResourceWrites } from './kubernetes/resource-writes.ts';
import { decode } from './kubernetes/secret-object.ts';
import { createWatching } from './kubernetes/watching.ts';
import type { WatchingOptions } from './kubernetes/watching.ts';
import type { ObjectRef, ReferentEntries, ReferentKind, ResourceListener, ResourceSource } from './types.ts';

export interface KubernetesSourceOptions extends WatchingOptions {
  recorder: Pick<EventRecorder, 'record'>;
}

/**
 * Custom resources from a cluster. What a write answers is told at once, in order with what watches tell; of Secrets
 * and ConfigMaps nothing is kept, each is read when it is needed.
 */
export function createKubernetesSource(options: KubernetesSourceOptions): ResourceSource {
  const { client, recorder } = options;
  const watching = createWatching(options);
  let listener: ResourceListener | undefined;
  // Watches that are stopping may still tell; a source that was stopped is silent.
  const relay: ResourceListener = {
    applied: (resource) => listener?.applied(resource),
    removed: (ref) => listener?.removed(ref),
    referentChanged: (ref) => listener?.referentChanged(ref),
    referentsMissed: (kind) => listener?.referentsMissed(kind),
    namespaceChanged: (name, labels) => listener?.namespaceChanged(name, labels),
  };
  const resources: ResourceWatches = createResourceWatches(watching, relay);
  const namespaces = createNamespaceWatch(watching, relay);
  const changes = createOwnSecretChanges((name) => relay.referentChanged({ kind: 'Secret', ...name }));
  const watches: Pick<WatchLoop, 'start' | 'stop'>[] = [
    resources,
    namespaces,
    ...createReferentWatches(watching, relay, changes),
  ];

  return {
    async start(to) {
      listener = to;
      await Promise.all(watches.map((watch) => watch.start()));
    },
    async stop() {
      listener = undefined;
      await Promise.all(watches.map((watch) => watch.stop()));
    },
    ...createResourceWrites(client, resources),
    ...createOwnedSecrets({
      client,
      changes,
      uidOf: (owner) => resources.get(owner)?.uid,
      isTerminating: (namespace) => namespaces.isTerminating(namespace),
    }),
    recordEvent(ref, event) {
      logEvent(options.logger, ref, event);
      const known = resources.get(ref);
      if (known !== undefined) recorder.record({ apiVersion: API_VERSION, ...ref, uid: known.uid }, event);
    },
    readReferent: (ref) => readEntries(client, ref),
  };
}

async function readEntries(
  client: KubernetesClient,
  { kind, namespace, name }: ObjectRef<ReferentKind>,
): Promise<ReferentEntries | undefined> {
  const at = { ...coreCollection(kind, namespace), name };
  if (kind === 'Secret') {
    const secret = await client.read<SecretObject>(at);
    return secret && decode(secret.data);
  }
  const configMap = await client.read<ConfigMapObject>(at);
  return configMap && { ...decode(configMap.binaryData), ...configMap.data };
}
