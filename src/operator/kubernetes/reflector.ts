import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import type { ListPage } from '../../platform/kubernetes/client.ts';
import { isOlder } from '../resource-version.ts';
import { createKnownObjects } from './known-objects.ts';
import type { KubernetesObject, ObjectName } from './objects.ts';
import { createWatchLoop } from './watch-loop.ts';
import type { WatchLoopOptions } from './watch-loop.ts';

/** Told of every object once at the start, then of each change, in order. What throws is logged, and counted. */
export interface ReflectorListener<T> {
  /** New or changed. */
  applied(object: T): void;
  /** Gone, or no longer selected; also where another object of this name has come, which is told of next. */
  removed(name: ObjectName): void;
}

export interface ReflectorOptions<Raw extends KubernetesObject, T> extends WatchLoopOptions {
  listener: ReflectorListener<T>;
  /** Makes what the listener is told of. What throws is taken as if the listener did. */
  transform: (object: Raw) => T;
  /** The listener, or the transform, threw. */
  onListenerError?: () => void;
}

/** Tells a listener of a collection of the Kubernetes API, for good, whatever happens to the connection. */
export interface Reflector<Raw extends KubernetesObject> {
  /** Resolves once the listener was told of everything that is there; rejects where it is stopped before. */
  start(): Promise<void>;
  /** Final: nothing is told after this call. Resolves once nothing is under way. */
  stop(): Promise<void>;
  /**
   * Takes in what a write answered, before the watch tells of it. Passed over where the object is gone by now, or
   * was told of in a newer version.
   */
  observe(answer: Raw): void;
}

const PAGE_SIZE = 500;

export function createReflector<Raw extends KubernetesObject, T>(options: ReflectorOptions<Raw, T>): Reflector<Raw> {
  const { client, at, selection = {}, logger, listener, transform, onListenerError = () => undefined } = options;
  const known = createKnownObjects();
  let listedVersion: string | undefined;
  let isStopped = false;

  function tell(call: () => void): void {
    if (isStopped) return;
    try {
      call();
    } catch (error) {
      onListenerError();
      logger.error({ plural: at.plural, error }, 'What was told of an object of the Kubernetes API was not taken');
    }
  }

  function take(object: Raw): void {
    const verdict = known.judge(object);
    if (verdict === 'old') return;
    if (verdict === 'another') drop(object);
    known.note(object);
    tell(() => listener.applied(transform(object)));
  }

  function drop(object: KubernetesObject): void {
    const name = known.forget(object);
    if (name !== undefined) tell(() => listener.removed(name));
  }

  function dropOthers(isKept: (key: string) => boolean): void {
    for (const name of known.forgetOthers(isKept)) tell(() => listener.removed(name));
  }

  function beginList({ resourceVersion }: ListPage<Raw>): void {
    // The API server was put back to an earlier state: what is known is no older version of what it holds.
    if (isOlder(resourceVersion, listedVersion)) dropOthers(() => false);
    listedVersion = resourceVersion;
  }

  async function list(signal: AbortSignal, limit?: number): Promise<string> {
    const listed = new Set<string>();
    let token: string | undefined;
    let version: string | undefined;
    do {
      const query = { ...selection, limit, continue: token };
      const page: ListPage<Raw> = await client.listPage<Raw>(at, query, signal);
      if (version === undefined) beginList(page);
      // Of the first page: a token that was renewed under way may speak of a later state.
      version ??= page.resourceVersion;
      for (const object of page.items) {
        listed.add(known.keyOf(object));
        take(object);
      }
      token = page.continue;
    } while (token !== undefined);
    dropOthers((key) => listed.has(key));
    return version;
  }

  const loop = createWatchLoop(options, {
    async position(signal) {
      try {
        return await list(signal, PAGE_SIZE);
      } catch (error) {
        // The pages took longer than the API server remembers. Without pages, that cannot be.
        if (!(error instanceof KubernetesError) || error.status !== 410) throw error;
        options.onRestart?.('expired');
        return await list(signal);
      }
    },
    changed: (type, object) => (type === 'DELETED' ? drop(object) : take(object as Raw)),
  });

  return {
    start: () => loop.start(),
    async stop() {
      isStopped = true;
      await loop.stop();
    },
    observe(answer) {
      if (known.has(answer)) take(answer);
    },
  };
}
