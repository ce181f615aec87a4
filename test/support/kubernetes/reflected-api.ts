import { createReflector } from '../../../src/operator/kubernetes/reflector.ts';
import type { Reflector } from '../../../src/operator/kubernetes/reflector.ts';
import type { KubernetesObject } from '../../../src/operator/kubernetes/objects.ts';
import type { RestartReason } from '../../../src/operator/kubernetes/restart-reasons.ts';
import { createKubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import { createManualClock } from '../operator/manual-clock.ts';
import type { ManualClock } from '../operator/manual-clock.ts';
import { object, page, startScriptedApi } from './scripted-api.ts';
import type { Answer, ScriptedApi, SeenRequest } from './scripted-api.ts';

export const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps' };

/** A reflector of ConfigMaps before a scripted API, on a clock that stands still, and what it has told so far. */
export interface ReflectedApi {
  readonly api: ScriptedApi;
  readonly clock: ManualClock;
  readonly reflector: Reflector<KubernetesObject>;
  /** `name@version` of what was applied, `-namespace/name` of what was removed. */
  readonly told: string[];
  readonly restarts: RestartReason[];
  listenerErrors: number;
  /** Does more, in the listener, with what is told. */
  onTold: (what: string) => void;
  lists(): SeenRequest['query'][];
  watches(): SeenRequest['query'][];
  /** Has one object listed at version 5, and watched from there. */
  begin(...watches: Answer[]): Promise<void>;
  isTold(...what: string[]): Promise<unknown>;
  isWatching(times: number): Promise<unknown>;
  hasRestarted(...reasons: RestartReason[]): Promise<unknown>;
  close(): Promise<void>;
}

/** @param timeoutMs of a request that is no watch */
export async function startReflectedApi(timeoutMs?: number): Promise<ReflectedApi> {
  const api = await startScriptedApi();
  const client = createKubernetesClient({ kubeConfig: api.kubeConfig, timeoutMs });
  const clock = createManualClock();
  const queriesOf = (isWatch: boolean): SeenRequest['query'][] =>
    api.seen.map(({ query }) => query).filter((query) => 'watch' in query === isWatch);
  const tell = (what: string): void => {
    reflected.told.push(what);
    reflected.onTold(what);
  };
  const reflector = createReflector({
    client,
    at: CONFIG_MAPS,
    selection: { labelSelector: 'a=b' },
    clock,
    // The shortest watch, and no backoff is shortened.
    random: () => 0,
    logger: silentLogger,
    onRestart: (reason) => reflected.restarts.push(reason),
    onListenerError: () => (reflected.listenerErrors += 1),
    transform: ({ metadata }: KubernetesObject) => `${metadata.name}@${metadata.resourceVersion}`,
    listener: { applied: tell, removed: ({ namespace, name }) => tell(`-${namespace}/${name}`) },
  });
  const reflected: ReflectedApi = {
    api,
    clock,
    reflector,
    told: [],
    restarts: [],
    listenerErrors: 0,
    onTold: () => undefined,
    lists: () => queriesOf(false),
    watches: () => queriesOf(true),
    async begin(...watches) {
      api.lists.push(page([object('a', 4)], 5));
      api.watches.push(...watches);
      await reflector.start();
      await eventually(() => expect(reflected.watches()).not.to.be.empty);
    },
    isTold: (...what) => eventually(() => expect(reflected.told).to.deep.equal(what)),
    isWatching: (times) => eventually(() => expect(reflected.watches()).to.have.length(times)),
    hasRestarted: (...reasons) => eventually(() => expect(reflected.restarts).to.deep.equal(reasons)),
    async close() {
      await reflector.stop();
      client.close();
      await api.close();
    },
  };
  return reflected;
}
