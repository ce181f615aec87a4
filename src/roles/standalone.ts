import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acceptSharedSecret } from '../api/internal/authentication.ts';
import type { StandaloneConfig } from '../config/standalone.ts';
import { createOperator } from '../operator/operator.ts';
import { createProcessRuntime } from '../operator/runtimes/process.ts';
import { createFolderSource } from '../operator/sources/folder.ts';
import { systemClock } from '../platform/clock.ts';
import { lockFolder } from '../platform/folder-lock.ts';
import type { Logger } from '../platform/logger.ts';
import { createMetrics } from '../platform/metrics.ts';
import { showBuild } from '../platform/process-metrics.ts';
import { startMetricsServer } from '../platform/metrics-server.ts';
import { urlOf } from '../platform/server-url.ts';
import { createShutdownStack, type ShutdownStack } from '../platform/shutdown.ts';
import { confinement } from '../reactors/host/confinement.ts';
import { startApi } from './api.ts';
import { openDatabases } from './databases.ts';
import { declaredReactorsStarted } from './declared-reactors.ts';
import { openKeyManagement } from './key-management.ts';
import { startKeyRotation } from './key-rotation.ts';
import { logPrinted } from './printed-lines.ts';
import { banner } from './standalone-banner.ts';
import { startTracing } from './tracing.ts';
import { readVersion } from './version.ts';

export interface StandaloneIo {
  /** One line of the program's own output. */
  readonly write: (line: string) => void;
  readonly logger: Logger;
}

export interface Standalone {
  /** Finishes what is in flight and ends everything that was started. */
  stop(): Promise<void>;
  /** Resolves with the reason where a part that nothing works without has ended. */
  readonly failed: Promise<Error>;
}

// Plain JavaScript after a build, TypeScript in a checkout: the same ending as this very file.
const MAIN = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url));

/** Others may pass through to the database, where Postgres runs under an account of its own, and see no names. */
const DATA_FOLDER_MODE = 0o711;

const LOOPBACK = '127.0.0.1';

/** Nobody else rotates the master key of a keyring. */
const KEYRING_ROTATION_MS = 90 * 24 * 3600_000;

/**
 * Order matters twice: each part finds what it needs started, and is stopped before that. Reactors are stopped after
 * the API, whose last requests may still run in them.
 */
async function start(
  config: StandaloneConfig,
  { write, logger }: StandaloneIo,
  { shutdown, fail }: { shutdown: ShutdownStack; fail: (error: Error) => void },
): Promise<void> {
  const { dataDir, host, manifests } = config;
  await mkdir(dataDir, { recursive: true, mode: DATA_FOLDER_MODE });
  const lock = await lockFolder(dataDir, '--data-dir');
  shutdown.push('data folder', () => lock.release());
  const version = await readVersion();
  const metrics = createMetrics();
  showBuild(metrics, { version, role: 'standalone' });
  const tracing = await startTracing(config, { service: 'tokenkeep', version, logger, shutdown });
  const databases = await openDatabases(config, { logger, metrics, tracing, shutdown, fail });
  const { database, maintenance, connectionString } = databases;
  const keyManagement = await openKeyManagement(config, { database: maintenance, logger, metrics });
  shutdown.push('key management', () => keyManagement.close());
  const metricsServer = await startMetricsServer({ host, port: config.metricsPort, registry: metrics.registry });
  shutdown.push('metrics', () => metricsServer.close(0));
  const runtime = createProcessRuntime({
    command: [MAIN, 'reactor'],
    onLog: (printed) => logPrinted(logger, printed),
  });
  if (confinement() === 'none') {
    logger.warn(
      {},
      'The system gives reactors no namespaces: it keeps their code neither from the network nor from files',
    );
  }
  shutdown.push('reactor instances', () => runtime.stop());

  const { port, internalPort, headerPrefixes, corsOrigins, redisUrl, trustedProxies, ipRateLimits } = config;
  const internalToken = randomBytes(32).toString('base64url');
  const api = await startApi({
    ...{
      database,
      maintenance,
      connectionString,
      keyManagement,
      host,
      port,
      internalPort,
      headerPrefixes,
    },
    ...{ corsOrigins, redisUrl, trustedProxies, ipRateLimits, callbackHttpHosts: config.callbackHttpHosts },
    // Its only caller is the operator in this very process.
    internalHost: LOOPBACK,
    internalAuthentication: acceptSharedSecret(async () => internalToken),
    clock: systemClock,
    ...{ version, logger, metrics, tracing, shutdown },
  });
  const baseUrl = urlOf(host, api.port);
  const rotationAge = config.keyRotation ?? (config.vaultAddr === undefined ? KEYRING_ROTATION_MS : 'off');
  startKeyRotation({
    maxAgeMs: rotationAge,
    ...{ maintenance, connectionString, keyManagement, logger, shutdown },
  });

  // A folder that is not there tells nothing: what an earlier start declared stays as it is.
  const manifestsDir = manifests ?? join(dataDir, 'no-manifests');
  const operator = createOperator({
    source: createFolderSource({ manifestsDir, dataDir, logger }),
    runtime,
    internalApi: { baseUrl: urlOf(LOOPBACK, api.internalPort), token: internalToken },
    publicBaseUrl: baseUrl,
    ...{ logger, metrics },
  });
  shutdown.push('operator', () => operator.stop());
  await operator.start();
  await operator.reconciled;
  await declaredReactorsStarted(dataDir);
  api.becomeReady();
  const metricsUrl = `${urlOf(host, metricsServer.port)}/metrics`;
  for (const line of banner({ baseUrl, metricsUrl, dataDir, manifests })) write(line);
  write(`ready ${baseUrl}`);
}

/** The whole of Tokenkeep on one machine. Resolves once every manifest has been reconciled. */
export async function startStandalone(config: StandaloneConfig, io: StandaloneIo): Promise<Standalone> {
  const shutdown = createShutdownStack({ logger: io.logger });
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  try {
    await Promise.race([
      start(config, io, { shutdown, fail }),
      failed.then((error) => {
        throw error;
      }),
    ]);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
  return { stop: () => shutdown.run(), failed };
}
