import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StandaloneConfig } from '../config/standalone.ts';
import { tryAdvisoryLock } from '../data/advisory-lock.ts';
import { createOperator } from '../operator/operator.ts';
import { createProcessRuntime } from '../operator/runtimes/process.ts';
import { createFolderSource } from '../operator/sources/folder.ts';
import { systemClock } from '../platform/clock.ts';
import { lockFolder } from '../platform/folder-lock.ts';
import type { Logger } from '../platform/logger.ts';
import { createMetrics } from '../platform/metrics.ts';
import { startMetricsServer } from '../platform/metrics-server.ts';
import { createShutdownStack, type ShutdownStack } from '../platform/shutdown.ts';
import { KEYS_TURN } from '../services/key-rotation/parts.ts';
import { createScheduledRotation, type ScheduledRotationOptions } from '../services/key-rotation/schedule.ts';
import { startApi, urlOf } from './api.ts';
import { openDatabases } from './databases.ts';
import { declaredReactorsStarted } from './declared-reactors.ts';
import { openKeyManagement } from './key-management.ts';
import { banner } from './standalone-banner.ts';

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

async function readVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

function startKeyRotation(
  { keyRotation, vaultAddr }: StandaloneConfig,
  { shutdown, ...parts }: Omit<ScheduledRotationOptions, 'maxAgeMs'> & { shutdown: ShutdownStack },
): void {
  const maxAgeMs = keyRotation ?? (vaultAddr === undefined ? KEYRING_ROTATION_MS : 'off');
  if (maxAgeMs === 'off') return;
  const rotation = createScheduledRotation({ ...parts, maxAgeMs });
  rotation.start();
  shutdown.push('key rotation', () => rotation.stop());
}

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
  const { database, maintenance, connectionString } = await openDatabases(config, { logger, shutdown, fail });

  const metrics = createMetrics();
  const keyManagement = await openKeyManagement(config, { database: maintenance, logger, metrics });
  shutdown.push('key management', () => keyManagement.close());
  const metricsServer = await startMetricsServer({ host, port: config.metricsPort, registry: metrics.registry });
  shutdown.push('metrics', () => metricsServer.close(0));
  const runtime = createProcessRuntime({ command: [MAIN, 'reactor'] });
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
      internalToken,
      headerPrefixes,
    },
    ...{ corsOrigins, redisUrl, trustedProxies, ipRateLimits },
    // Its only caller is the operator in this very process.
    internalHost: LOOPBACK,
    version: await readVersion(),
    clock: systemClock,
    ...{ logger, metrics, shutdown },
  });
  const baseUrl = urlOf(host, api.port);
  startKeyRotation(config, {
    ...{ database: maintenance, management: keyManagement, clock: systemClock, logger, shutdown },
    takeTurn: () => tryAdvisoryLock(connectionString, KEYS_TURN),
  });

  // A folder that is not there tells nothing: what an earlier start declared stays as it is.
  const manifestsDir = manifests ?? join(dataDir, 'no-manifests');
  const operator = createOperator({
    source: createFolderSource({ manifestsDir, dataDir, logger }),
    runtime,
    internalApi: { baseUrl: urlOf(LOOPBACK, api.internalPort), token: internalToken },
    publicBaseUrl: baseUrl,
    logger,
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
