import { readFile } from 'node:fs/promises';
import type { OperatorConfig } from '../config/operator.ts';
import type { InternalApiAccess } from '../operator/internal-connection.ts';
import type { ReplicaDirectory } from '../operator/api-replicas.ts';
import { createEndpointDirectory } from '../operator/kubernetes/endpoint-directory.ts';
import { createEventRecorder } from '../operator/kubernetes/event-recorder.ts';
import { createLeaseElector, leaseIdentity, type LeaseElector } from '../operator/kubernetes/lease-elector.ts';
import { createOperator, type Operator } from '../operator/operator.ts';
import { createKubernetesSource } from '../operator/sources/kubernetes.ts';
import { systemTimers } from '../operator/timers.ts';
import { createHealth, type Health } from '../platform/health.ts';
import { startHealthServer } from '../platform/health-server.ts';
import { createKubernetesClient, type KubernetesClient } from '../platform/kubernetes/client.ts';
import { loadKubeConfig } from '../platform/kubernetes/kube-config.ts';
import type { Logger } from '../platform/logger.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { showBuild } from '../platform/process-metrics.ts';
import { startMetricsServer } from '../platform/metrics-server.ts';
import { urlOf } from '../platform/server-url.ts';
import { createShutdownStack, type ShutdownStack } from '../platform/shutdown.ts';
import { leaseNamespace, podName, readToken } from './operator-identity.ts';
import { planReactorRuntime, type StartRuntime } from './operator-runtime.ts';
import { createOperatorMetrics, type OperatorMetrics } from './operator-metrics.ts';
import { readVersion } from './version.ts';

export interface OperatorIo {
  /** One line of the program's own output. */
  readonly write: (line: string) => void;
  readonly logger: Logger;
}

export interface OperatorRole {
  /** Finishes what runs, and then lets another one lead. */
  stop(): Promise<void>;
  /**
   * Resolves with the process's exit code once it must end at once, as when another one leads. Rejects where it cannot
   * go on.
   */
  readonly finished: Promise<number>;
}

interface Parts {
  readonly client: KubernetesClient;
  readonly metrics: Metrics;
  readonly told: OperatorMetrics;
  readonly logger: Logger;
  readonly shutdown: ShutdownStack;
}

const LEASE = 'tokenkeep-operator';

function internalApiOf({ internalUrl, internalTokenFile, internalCaFile }: OperatorConfig): InternalApiAccess {
  return {
    baseUrl: internalUrl,
    token: () => readToken(internalTokenFile),
    ...(internalCaFile === undefined ? {} : { ca: () => readFile(internalCaFile, 'utf8') }),
  };
}

/** Undefined where the internal API is one. */
function directoryOf(
  { internalService: service, internalUrl }: OperatorConfig,
  { client, told, logger }: Pick<Parts, 'client' | 'told' | 'logger'>,
): ReplicaDirectory | undefined {
  if (service === undefined) return undefined;
  return createEndpointDirectory({
    ...{ client, logger, service, clock: systemTimers, protocol: new URL(internalUrl).protocol },
    onRestart: (reason) => told.onWatchRestart('endpointslices', reason),
    onListenerError: () => told.onListenerError('endpointslices'),
  });
}

/** Asks for the lease. Undefined where nobody else is to be reckoned with. */
async function startElector(config: OperatorConfig, parts: Parts): Promise<LeaseElector | undefined> {
  if (!config.leaderElection) return undefined;
  const { client, logger, told, shutdown } = parts;
  const elector = createLeaseElector({
    ...{ client, logger, name: LEASE },
    namespace: await leaseNamespace(config.leaderElectionNamespace),
    identity: leaseIdentity(podName()),
    leaseMs: config.leaseDuration,
    renewDeadlineMs: config.renewDeadline,
    retryMs: config.retryPeriod,
    onChange: (isLeading) => told.onLeading(isLeading),
  });
  elector.start();
  shutdown.push('lease', () => elector.stop());
  return elector;
}

/** The order of what is pushed matters: reconciling stops first, and its events are written before the lease goes. */
function buildOperator(
  config: OperatorConfig,
  startRuntime: StartRuntime,
  { client, metrics, told, logger, shutdown }: Parts,
): Operator {
  const recorder = createEventRecorder({
    ...{ client, logger, instance: podName() },
    onResult: (result) => told.onEvent(result),
  });
  shutdown.push('event recorder', () => recorder.stop());
  const source = createKubernetesSource({
    ...{ client, recorder, logger, clock: systemTimers },
    ...(config.watchNamespaces === undefined ? {} : { watchNamespaces: config.watchNamespaces }),
    onRestart: (plural, reason) => told.onWatchRestart(plural, reason),
    onListenerError: (plural) => told.onListenerError(plural),
  });
  const runtime = startRuntime(recorder);
  shutdown.push('runtime of reactors', () => runtime.stop());
  const operator = createOperator({
    ...{ source, runtime, internalApi: internalApiOf(config) },
    ...{ publicBaseUrl: config.publicUrl, workers: config.workers, metrics, logger },
    apiReplicas: directoryOf(config, { client, told, logger }),
  });
  shutdown.push('operator', () => operator.stop());
  return operator;
}

/** Resolves with the ports of the metrics and of the health. */
async function serve(
  config: OperatorConfig,
  health: Health,
  { metrics, shutdown }: Parts,
): Promise<{ metricsPort: number; healthPort: number }> {
  const { host, metricsPort, healthPort } = config;
  const metricsServer = await startMetricsServer({ host, port: metricsPort, registry: metrics.registry });
  shutdown.push('metrics', () => metricsServer.close(0));
  const healthServer = await startHealthServer({ host, port: healthPort, health });
  shutdown.push('health', () => healthServer.close(0));
  return { metricsPort: metricsServer.port, healthPort: healthServer.port };
}

async function start(
  config: OperatorConfig,
  { write, logger }: OperatorIo,
  { shutdown, stopping }: { shutdown: ShutdownStack; stopping: AbortSignal },
): Promise<Pick<OperatorRole, 'finished'>> {
  const metrics = createMetrics();
  showBuild(metrics, { version: await readVersion(), role: 'operator' });
  const told = createOperatorMetrics(metrics.registry, LEASE);
  const client = createKubernetesClient({
    kubeConfig: loadKubeConfig(config.kubeconfig === undefined ? {} : { kubeconfig: config.kubeconfig }),
    onRequest: (observation) => told.onRequest(observation),
  });
  shutdown.push('Kubernetes client', () => client.close());
  const parts = { client, metrics, told, logger, shutdown };
  const startRuntime = await planReactorRuntime(config, parts);
  const health = createHealth();
  const { metricsPort, healthPort } = await serve(config, health, parts);
  const elector = await startElector(config, parts);
  shutdown.push('readiness', () => health.drain());
  write(`metrics ${urlOf(config.host, metricsPort)}/metrics`);
  write(`health ${urlOf(config.host, healthPort)}`);

  const lead = async (): Promise<void> => {
    await elector?.leading;
    if (stopping.aborted) return;
    // A candidate that only waits is ready to. A leader is once it knows what there is.
    let hasListed = false;
    health.addCheck('resources', async () => {
      if (!hasListed) throw new Error('not listed yet');
    });
    await buildOperator(config, startRuntime, parts).start();
    if (stopping.aborted) return;
    hasListed = true;
    write('leading');
  };
  const { promise: finished, resolve: finish, reject: fail } = Promise.withResolvers<number>();
  void elector?.lost.then((error) => {
    logger.error({ error }, 'Leads no more: the process ends at once');
    finish(1);
  });
  lead().catch(fail);
  return { finished };
}

/**
 * The control plane of a cluster. Resolves once it stands as a candidate; it reconciles once it leads. Nothing of it
 * reaches Postgres or Vault.
 */
export async function startOperatorRole(config: OperatorConfig, io: OperatorIo): Promise<OperatorRole> {
  const shutdown = createShutdownStack({ logger: io.logger });
  const stopping = new AbortController();
  try {
    const { finished } = await start(config, io, { shutdown, stopping: stopping.signal });
    return {
      finished,
      async stop() {
        stopping.abort();
        await shutdown.run();
      },
    };
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}
