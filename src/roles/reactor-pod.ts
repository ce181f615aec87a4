import { constants } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { POD_DEFAULTS, type ReactorConfig } from '../config/reactor.ts';
import type { ReactorWorkload } from '../domain/declarations.ts';
import { isJsonObject } from '../domain/json.ts';
import { CODE_REFUSED_EXIT } from '../domain/reactor-supervision.ts';
import type { SupervisorLine } from '../domain/reactor-supervision.ts';
import { REACTOR_LIMITS } from '../domain/reactors.ts';
import { createHealth } from '../platform/health.ts';
import { startHealthServer } from '../platform/health-server.ts';
import type { Logger } from '../platform/logger.ts';
import { createMetrics } from '../platform/metrics.ts';
import { showBuild, showCertificates } from '../platform/process-metrics.ts';
import { openServerCertificate, tlsFilesOf } from '../platform/server-certificate.ts';
import { unpackText } from '../platform/packed-text.ts';
import { createShutdownStack } from '../platform/shutdown.ts';
import { createInstanceMetrics } from '../reactors/host/instance-metrics.ts';
import { startSupervisor } from '../reactors/host/supervisor.ts';
import type { SupervisorTask } from '../reactors/host/supervisor.ts';
import { logPrinted } from './printed-lines.ts';
import { readVersion } from './version.ts';

export interface ReactorPod {
  /** Is not ready any more, takes nothing more on, lets what runs come to its end. Settles within `stopMs`. */
  stop(): Promise<void>;
  /** The exit code, once it has nothing to do because the code was refused. */
  readonly finished: Promise<number>;
  readonly stopMs: number;
}

/** Kubernetes takes an instance that leaves out of what is called within a second or two. */
const LINGER_MS = 4_000;
/** The longest run of code there is; the pod's own grace period may end it sooner. */
const DRAIN_MS = REACTOR_LIMITS.asynchronousTimeoutSeconds * 1000;
const CLOSE_MS = 5_000;
/** What Kubernetes keeps of a message. */
const MAX_MESSAGE = 4_096;

/**
 * One instance of a reactor, or of what checks code, as the only process of a container. It says on standard output
 * what happens, and to Kubernetes, where it ends by itself, why.
 */
export async function startReactorPod(config: ReactorConfig, logger: Logger): Promise<ReactorPod> {
  const shutdown = createShutdownStack({ logger, deadlineMs: DRAIN_MS + CLOSE_MS });
  const tell = (message: string) => tellKubernetes(config.terminationLog ?? POD_DEFAULTS.terminationLog, message);
  try {
    const refused = await start(config, logger, shutdown);
    if (refused !== undefined) {
      await tell(refused);
      await shutdown.run();
    }
    const finished = refused === undefined ? new Promise<number>(() => undefined) : Promise.resolve(CODE_REFUSED_EXIT);
    return { stop: () => shutdown.run(), finished, stopMs: DRAIN_MS + 2 * CLOSE_MS };
  } catch (error) {
    await tell(error instanceof Error ? error.message : 'The instance could not be started.');
    await shutdown.run();
    throw error;
  }
}

/** Why the code cannot run; undefined once it is served. */
async function start(
  config: ReactorConfig,
  logger: Logger,
  shutdown: ReturnType<typeof createShutdownStack>,
): Promise<string | undefined> {
  const { host = POD_DEFAULTS.host, port = POD_DEFAULTS.port, healthPort = POD_DEFAULTS.healthPort } = config;
  const task: SupervisorTask =
    config.workloadFile === undefined
      ? { mode: 'check' }
      : { mode: 'run', workload: await readWorkload(config.workloadFile) };
  const certificate = await openServerCertificate({ ...tlsFilesOf(config.tlsDir!), logger });
  shutdown.push('certificate', () => certificate.close());

  const health = createHealth();
  let serves = false;
  health.addCheck('code', async () => {
    if (!serves) throw new Error('the code is not loaded yet');
  });
  const metrics = createMetrics();
  const version = await readVersion();
  showBuild(metrics, { version, role: task.mode === 'run' ? 'reactor' : 'checker' });
  showCertificates(metrics, { instance: certificate });
  const healthServer = await startHealthServer({ host, port: healthPort, health, registry: metrics.registry });
  shutdown.push('health', () => healthServer.close(0));
  logger.info({ host, port: healthServer.port }, 'Health is served');

  let refusal = 'The code cannot run.';
  const print = (line: SupervisorLine): void => {
    if ('refused' in line) refusal = line.refused;
    logLine(logger, line);
  };
  const observer = task.mode === 'run' ? createInstanceMetrics(metrics) : undefined;
  const supervisor = await startSupervisor(task, { host, port, certificate, lingerMs: LINGER_MS }, print, observer);
  if (supervisor === undefined) return refusal;
  shutdown.push('code', () => supervisor.stop(DRAIN_MS));
  shutdown.push('readiness', () => health.drain());
  serves = true;
  return undefined;
}

function logLine(logger: Logger, line: SupervisorLine): void {
  // The one place where an operator sees which walls the node leaves to the code.
  if ('listening' in line) {
    logger.info({ address: line.listening, confinement: line.confinement }, 'Instance listens');
  } else if ('refused' in line) {
    logger.error({ reason: line.refused }, 'Code refused');
  } else if ('stopped' in line) {
    logger.warn({ reason: line.stopped }, 'Process of the code was stopped');
  } else {
    logPrinted(logger, line.log);
  }
}

/** What the operator wrote. What is wrong with it is said without a word of it: it holds code and configuration. */
async function readWorkload(file: string): Promise<ReactorWorkload> {
  const packed = await readFile(file);
  let value: unknown;
  try {
    value = JSON.parse(unpackText(packed));
  } catch {
    throw new Error(`${file} does not hold JSON`);
  }
  if (!isWorkload(value)) throw new Error(`${file} does not hold a reactor as this version knows it`);
  return value;
}

function isWorkload(value: unknown): value is ReactorWorkload {
  if (!isJsonObject(value)) return false;
  const { scaling, configuration, timeoutSeconds, memoryBytes, ...rest } = value;
  const texts = ['tenantId', 'reactorId', 'revision', 'name', 'code'] as const;
  return (
    texts.every((name) => typeof rest[name] === 'string') &&
    [timeoutSeconds, memoryBytes].every((number) => typeof number === 'number' && number > 0) &&
    isJsonObject(configuration) &&
    isJsonObject(scaling) &&
    typeof scaling['concurrency'] === 'number'
  );
}

/** The kubelet makes the file; where nobody has, nobody reads it. */
async function tellKubernetes(file: string, message: string): Promise<void> {
  const flag = constants.O_WRONLY | constants.O_TRUNC;
  await writeFile(file, message.slice(0, MAX_MESSAGE), { flag }).catch(() => undefined);
}
