import type { ObjectName } from './objects.ts';
import { nameOf } from './objects.ts';
import type { KubernetesObject } from './objects.ts';
import { createWatchLoop } from './watch-loop.ts';
import type { WatchLoop, WatchLoopOptions } from './watch-loop.ts';

export interface ChangeWatchListener {
  /** An object came, changed or went. */
  changed(name: ObjectName): void;
  /** Changes may have been missed. */
  gap(): void;
}

export interface ChangeWatchOptions extends WatchLoopOptions {
  listener: ChangeWatchListener;
  /** The listener threw. */
  onListenerError?: () => void;
}

/**
 * Tells which objects of a collection change from now on, and keeps nothing of them: it reads their metadata alone,
 * and never the whole list. `start` resolves once later changes are told.
 */
export function createChangeWatch(options: ChangeWatchOptions): WatchLoop {
  const { client, at, logger, listener, onListenerError = () => undefined } = options;
  const selection = { ...options.selection, metadataOnly: true };
  let attempts = 0;

  function tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      onListenerError();
      logger.error({ plural: at.plural, error }, 'What was told of a change in the Kubernetes API was not taken');
    }
  }

  return createWatchLoop(
    { ...options, selection },
    {
      async position(signal) {
        attempts += 1;
        const isFirst = attempts === 1;
        const { resourceVersion } = await client.listPage<KubernetesObject>(at, { ...selection, limit: 1 }, signal);
        if (!isFirst && !signal.aborted) tell(() => listener.gap());
        return resourceVersion;
      },
      changed: (_type, object) => tell(() => listener.changed(nameOf(object))),
    },
  );
}
