import type { KubernetesClient } from '../../../platform/kubernetes/client.ts';
import type { ResourcePath } from '../../../platform/kubernetes/paths.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { RestartReason } from '../../kubernetes/restart-reasons.ts';
import type { WatchLoopOptions } from '../../kubernetes/watch-loop.ts';
import type { Timers } from '../../timers.ts';

export interface WatchingOptions {
  client: KubernetesClient;
  clock: Timers;
  logger: Logger;
  /** Only objects of these namespaces are seen; of all, unless given. Cluster-scoped ones are seen either way. */
  watchNamespaces?: readonly string[];
  /** `plural`: which collection. */
  onRestart?: (plural: string, reason: RestartReason) => void;
  onListenerError?: (plural: string) => void;
}

/** What all watches of a source have in common. */
export interface Watching {
  /** One watch of each kind for each of these; undefined is the whole cluster. */
  namespaces: readonly (string | undefined)[];
  loopOver(at: ResourcePath): WatchLoopOptions & { onListenerError: () => void };
}

export function createWatching(options: WatchingOptions): Watching {
  const { client, clock, logger, watchNamespaces = [] } = options;
  return {
    namespaces: watchNamespaces.length === 0 ? [undefined] : [...new Set(watchNamespaces)],
    loopOver: (at) => ({
      ...{ client, clock, logger, at },
      onRestart: (reason) => options.onRestart?.(at.plural, reason),
      onListenerError: () => options.onListenerError?.(at.plural),
    }),
  };
}
