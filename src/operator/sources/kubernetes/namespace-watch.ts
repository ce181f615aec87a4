import { createReflector } from '../../kubernetes/reflector.ts';
import type { WatchLoop } from '../../kubernetes/watch-loop.ts';
import type { ResourceListener } from '../types.ts';
import type { MetadataObject } from './objects.ts';
import type { Watching } from './watching.ts';

export interface NamespaceWatch extends Pick<WatchLoop, 'start' | 'stop'> {
  /** Whether the namespace is being deleted. */
  isTerminating(namespace: string): boolean;
}

/** Tells of the labels of the namespaces that are watched. */
export function createNamespaceWatch(watching: Watching, listener: ResourceListener): NamespaceWatch {
  const terminating = new Set<string>();
  const isWatched = (name: string) => watching.namespaces.includes(undefined) || watching.namespaces.includes(name);

  const reflector = createReflector<MetadataObject, MetadataObject['metadata']>({
    ...watching.loopOver({ group: '', version: 'v1', plural: 'namespaces' }),
    selection: { metadataOnly: true },
    transform: ({ metadata }) => metadata,
    listener: {
      applied({ name, labels = {}, deletionTimestamp }) {
        if (!isWatched(name)) return;
        if (deletionTimestamp !== undefined) terminating.add(name);
        listener.namespaceChanged(name, labels);
      },
      removed({ name }) {
        if (!isWatched(name)) return;
        terminating.delete(name);
        listener.namespaceChanged(name, undefined);
      },
    },
  });
  return {
    start: () => reflector.start(),
    stop: () => reflector.stop(),
    isTerminating: (name) => terminating.has(name),
  };
}
