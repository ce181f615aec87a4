import type { Logger } from '../../platform/logger.ts';
import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import type { ResourcePath, Selection } from '../../platform/kubernetes/paths.ts';
import { createBackoff } from '../backoff.ts';
import { isOlder } from '../resource-version.ts';
import { pause } from '../timers.ts';
import type { Timers } from '../timers.ts';
import type { KubernetesObject } from './objects.ts';
import { restartReasonOf, WatchFault } from './restart-reasons.ts';
import type { RestartReason } from './restart-reasons.ts';

/** What is watched, and with what. */
export interface WatchLoopOptions {
  client: Pick<KubernetesClient, 'listPage' | 'watch'>;
  /** A collection. */
  at: ResourcePath;
  selection?: Selection;
  clock: Timers;
  logger: Logger;
  onRestart?: (reason: RestartReason) => void;
  /** At least 0, less than 1. Default `Math.random`. */
  random?: () => number;
}

export interface WatchLoopHandlers {
  /** Finds out the version that the watch is to go on from. May reject: it is asked again later. */
  position(signal: AbortSignal): Promise<string>;
  /** Must not throw. */
  changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubernetesObject): void;
}

export interface WatchLoop {
  /** Resolves with the first position; rejects where it is stopped before. */
  start(): Promise<void>;
  /** Final: no handler is called after this call. Resolves once nothing is under way. */
  stop(): Promise<void>;
}

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 30_000;
const SHORTEST_WATCH_SECONDS = 300;
const LONGEST_WATCH_SECONDS = 600;
// For an API server that ends the watch late.
const SILENCE_GRACE_MS = 30_000;
const CUT_SHORT_MS = 1_000;

/**
 * Watches a collection for good, from where it last was. Whatever fails is begun again: at once where the position is
 * lost for the first time, else after a while that grows until there is progress.
 */
export function createWatchLoop(options: WatchLoopOptions, handlers: WatchLoopHandlers): WatchLoop {
  const { client, at, selection = {}, clock, logger, onRestart = () => undefined, random = Math.random } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const backoff = createBackoff({ firstMs: FIRST_BACKOFF_MS, longestMs: LONGEST_BACKOFF_MS, random });
  const { promise: positioned, resolve: markPositioned, reject: giveUp } = Promise.withResolvers<void>();
  // Who does not wait for it must not fail by it.
  positioned.catch(() => undefined);
  let version: string | undefined;
  let running = Promise.resolve();
  let failures = 0;

  function progressTo(next: string | undefined): void {
    if (next === undefined || !isOlder(version, next)) return;
    version = next;
    failures = 0;
    backoff.reset();
  }

  function takeEvent(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: KubernetesObject): void {
    const { resourceVersion } = object.metadata;
    if (type !== 'BOOKMARK') {
      // The API server was put back to an earlier state: what it tells now would be taken for old.
      if (isOlder(resourceVersion, version)) throw new WatchFault('expired');
      handlers.changed(type, object);
    }
    progressTo(resourceVersion);
  }

  async function watchOnce(resourceVersion: string): Promise<void> {
    const spread = LONGEST_WATCH_SECONDS - SHORTEST_WATCH_SECONDS;
    const timeoutSeconds = SHORTEST_WATCH_SECONDS + Math.floor(random() * spread);
    const silence = new AbortController();
    const cancel = clock.schedule(timeoutSeconds * 1_000 + SILENCE_GRACE_MS, () => silence.abort());
    const began = clock.now();
    const query = { ...selection, resourceVersion, timeoutSeconds };
    try {
      const until = AbortSignal.any([signal, silence.signal]);
      for await (const { type, object } of client.watch<KubernetesObject>(at, query, until)) {
        if (signal.aborted) return;
        takeEvent(type, object);
      }
    } finally {
      cancel();
    }
    if (signal.aborted) return;
    if (silence.signal.aborted) throw new WatchFault('silent');
    if (version === resourceVersion && clock.now() - began < CUT_SHORT_MS) throw new WatchFault('cut-short');
    failures = 0;
    backoff.reset();
  }

  async function recover(error: unknown): Promise<void> {
    const reason = restartReasonOf(error);
    onRestart(reason);
    logger.warn({ plural: at.plural, reason, error }, 'A watch of the Kubernetes API is begun again');
    // A line that cannot be read would come again.
    if (reason === 'expired' || reason === 'malformed') version = undefined;
    failures += 1;
    const isFirstLoss = reason === 'expired' && failures === 1;
    const askedMs = error instanceof KubernetesError ? (error.retryAfterMs ?? 0) : 0;
    if (!isFirstLoss || askedMs > 0) await pause(clock, Math.max(backoff.next(), askedMs), signal);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        version ??= await handlers.position(signal);
        markPositioned();
        if (!signal.aborted) await watchOnce(version);
      } catch (error) {
        if (!signal.aborted) await recover(error);
      }
    }
  }

  return {
    start() {
      running = run();
      return positioned;
    },
    async stop() {
      stopping.abort();
      giveUp(new Error(`The watch of ${at.plural} was stopped`));
      await running;
    },
  };
}
