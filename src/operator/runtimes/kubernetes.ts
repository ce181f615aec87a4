import { SCALING_ENGINES } from '../../domain/declarations.ts';
import type { ReactorInstance, ReactorWorkload } from '../../domain/declarations.ts';
import { API_CLIENT_NAME, CHECKER_SERVER_NAME, reactorServerName } from '../../domain/reactor-certificates.ts';
import type { KubernetesClient } from '../../platform/kubernetes/client.ts';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EventRecorder } from '../kubernetes/event-recorder.ts';
import type { RestartReason } from '../kubernetes/restart-reasons.ts';
import { createWorkQueue } from '../queue.ts';
import type { WorkResult } from '../queue.ts';
import type { Timers } from '../timers.ts';
import { buildCheckerDeployment } from '../workloads/deployment.ts';
import {
  CHECKER_LABELS,
  CHECKER_NAME,
  CLIENT_SECRET,
  REVISION_LABEL,
  tlsSecretName,
  workloadName,
} from '../workloads/names.ts';
import type { ReactorName } from '../workloads/names.ts';
import { buildCheckerPolicy } from '../workloads/network-policy.ts';
import type { Callers } from '../workloads/network-policy.ts';
import { PART_KINDS } from '../workloads/parts.ts';
import type { PodSettings } from '../workloads/pod.ts';
import { failureOf } from './kubernetes/failures.ts';
import type { Failure } from './kubernetes/failures.ts';
import { instancesOf } from './kubernetes/instances.ts';
import type { ObservedPart } from './kubernetes/objects.ts';
import { createObserved, SHARED } from './kubernetes/observed.ts';
import { recordRefusal, refusalIn } from './kubernetes/refusals.ts';
import { createScaler } from './kubernetes/scaler.ts';
import { createTrust } from './kubernetes/trust.ts';
import { bringWorkload, clearWorkload } from './kubernetes/workload.ts';
import type { Wanted } from './kubernetes/workload.ts';
import { createPartWriter } from './kubernetes/writer.ts';
import type { ReactorRuntime, RuntimeState } from './types.ts';

export interface KubernetesRuntimeOptions {
  client: KubernetesClient;
  /** Where all workloads are. */
  namespace: string;
  pods: PodSettings;
  api: Callers;
  /** Where KEDA reads demand, see `buildScaledObject`; absent: KEDA can scale nothing. */
  metricsOrigin?: string | undefined;
  clock: Timers;
  logger: Logger;
  /** Told of what the cluster refuses. */
  recorder: Pick<EventRecorder, 'record'>;
  onRestart?: (plural: string, reason: RestartReason) => void;
  onListenerError?: (plural: string) => void;
}

const LONGEST_BACKOFF_MS = 60_000;

/**
 * Runs each reactor as a Deployment of its own. What there is, is read from watches; a request is made only where that
 * is not what is wanted. Stopping it leaves everything running: the operator that leads next finds it.
 */
export function createKubernetesRuntime(options: KubernetesRuntimeOptions): ReactorRuntime & { start(): void } {
  const { client, namespace, pods, api, clock, logger, recorder } = options;
  /** By the name of the workload, as is everything here. */
  const wanted = new Map<string, Wanted>();
  const leaving = new Map<string, () => void>();
  const refusals = new Map<string, Failure>();
  const told = new Map<string, string>();
  const listeners: ((state: RuntimeState) => void)[] = [];

  const queue = createWorkQueue({ work, clock, longestBackoffMs: LONGEST_BACKOFF_MS });
  const observed = createObserved({
    ...options,
    changed(name) {
      if (name === SHARED) for (const each of [SHARED, CHECKER_NAME, ...wanted.keys()]) queue.add(each);
      else queue.add(name);
      tell(name);
    },
  });
  const writer = createPartWriter(client, namespace, observed);
  const trust = createTrust({ client, namespace, clock, observed, writer });
  const parts = { observed, writer, trust, pods, api };
  const scaler = createScaler({ client, namespace, clock, metricsOrigin: options.metricsOrigin });
  const { promise: known, resolve: markKnown } = Promise.withResolvers<void>();
  // Nothing is known to be missing before all is told.
  queue.hold();

  async function work(name: string): Promise<WorkResult> {
    try {
      const requeueAfterMs = await bring(name);
      if (refusals.delete(name)) tell(name);
      return requeueAfterMs === undefined ? {} : { requeueAfterMs };
    } catch (error) {
      logger.warn({ error, workload: name }, 'Could not bring the workload of a reactor to what is wanted');
      const refusal = refusalIn(error, name);
      if (refusal !== undefined) {
        refusals.set(name, refusal);
        recordRefusal({ recorder, observed, namespace, api }, name, refusal);
      }
      tell(name);
      const retryAfterMs = error instanceof KubernetesError ? error.retryAfterMs : undefined;
      return { failed: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
  }

  async function bring(name: string): Promise<number | undefined> {
    if (name === SHARED) return bringClientSecret();
    if (name === CHECKER_NAME) return bringChecker();
    const reactor = wanted.get(name);
    if (reactor !== undefined) {
      const lookAgainMs = await bringWorkload(reactor, parts);
      return Math.min(lookAgainMs, (await scaler.ensure(reactor.workload)) ?? Infinity);
    }
    const done = leaving.get(name);
    if (done === undefined) return undefined;
    await scaler.remove(name);
    if (!(await clearWorkload(name, parts))) return undefined;
    leaving.delete(name);
    done();
    return undefined;
  }

  /** What the API shows to instances that it calls, and to those that call it: where its pods can mount it. */
  async function bringClientSecret(): Promise<number> {
    const former =
      api.namespace === namespace
        ? undefined
        : await client.read<ObservedPart>({ ...PART_KINDS.Secret, namespace, name: CLIENT_SECRET });
    if (former !== undefined) await writer.remove('Secret', former);
    return trust.ensure({
      // Labels are those of whoever has made it before, as Helm does: it would not let us have them.
      ...{ name: CLIENT_SECRET, labels: {}, namespace: api.namespace },
      subject: { name: API_CLIENT_NAME, usage: 'client' },
      served: { name: API_CLIENT_NAME, usage: 'server' },
    });
  }

  async function bringChecker(): Promise<number> {
    await writer.ensure(buildCheckerPolicy(api));
    const subject = { name: CHECKER_SERVER_NAME, usage: 'server' } as const;
    const lookAgainMs = await trust.ensure({ name: tlsSecretName(CHECKER_NAME), labels: CHECKER_LABELS, subject });
    await writer.ensureDeployment(buildCheckerDeployment(pods), 1);
    await writer.scale(CHECKER_NAME, 1);
    return lookAgainMs;
  }

  function failureFor(name: string, revision?: string): Failure | undefined {
    const current = observed
      .podsOf(name)
      .filter(({ metadata }) => revision === undefined || metadata.labels?.[REVISION_LABEL] === revision);
    return refusals.get(name) ?? failureOf(observed.deployment(name), current);
  }

  function stateOf(name: string, { tenantId, reactorId }: ReactorName): RuntimeState {
    const reactor = wanted.get(name);
    const ready = instancesOf(observed.podsOf(name), reactorServerName(tenantId, reactorId));
    if (reactor === undefined) {
      if (leaving.has(name)) return { tenantId, reactorId, revision: '', ready: [], desired: 0 };
      return { tenantId, reactorId, revision: '', ready, desired: observed.deployment(name)?.spec.replicas ?? 0 };
    }
    const { revision } = reactor.workload;
    const desired = reactor.replicas ?? observed.deployment(name)?.spec.replicas ?? 0;
    return { tenantId, reactorId, revision, ready, desired, ...failureFor(name, revision) };
  }

  /** Only what differs from what was told last. */
  function tell(name: string): void {
    const reactor = nameOf(name);
    if (reactor === undefined) return;
    const state = stateOf(name, reactor);
    const text = JSON.stringify(state);
    if (told.get(name) === text) return;
    const isGone = !wanted.has(name) && state.ready.length === 0;
    if (isGone) told.delete(name);
    else told.set(name, text);
    for (const listener of listeners) listener(state);
  }

  const nameOf = (name: string): ReactorName | undefined => wanted.get(name)?.workload ?? observed.reactors().get(name);

  return {
    engines: SCALING_ENGINES,
    known,
    start() {
      for (const name of [SHARED, CHECKER_NAME]) queue.add(name);
      observed.start().then(
        () => {
          queue.release();
          markKnown();
        },
        // Stopped before: nothing is left to be done.
        markKnown,
      );
    },
    async apply(workload: ReactorWorkload, replicas: number | undefined) {
      const name = workloadName(workload);
      leaving.get(name)?.();
      leaving.delete(name);
      wanted.set(name, { workload, replicas });
      queue.add(name);
      tell(name);
    },
    async remove(tenantId, reactorId) {
      const reactor = { tenantId, reactorId };
      const name = workloadName(reactor);
      wanted.delete(name);
      refusals.delete(name);
      if (leaving.has(name)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      leaving.set(name, resolve);
      queue.add(name);
      told.delete(name);
      for (const listener of listeners) listener(stateOf(name, reactor));
      await promise;
    },
    list() {
      const names = new Map([
        ...observed.reactors(),
        ...[...wanted].map(([name, { workload }]) => [name, workload] as const),
      ]);
      return [...names].map(([name, reactor]) => stateOf(name, reactor));
    },
    onChange(listener) {
      listeners.push(listener);
    },
    async checker(): Promise<ReactorInstance> {
      const [instance] = instancesOf(observed.podsOf(CHECKER_NAME), CHECKER_SERVER_NAME);
      if (instance !== undefined) return instance;
      const failure = failureFor(CHECKER_NAME)?.failure ?? 'it starts';
      throw new Error(`No instance is ready to check code: ${failure}`);
    },
    checkerFailure: () => failureFor(CHECKER_NAME)?.failure,
    async stop() {
      await Promise.all([queue.stop(), observed.stop()]);
      for (const done of leaving.values()) done();
    },
  };
}
