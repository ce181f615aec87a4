import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acceptSharedSecret, type InternalAuthentication } from '../api/internal/authentication.ts';
import { acceptServiceAccounts } from '../api/internal/service-accounts.ts';
import type { ApiConfig } from '../config/api.ts';
import { DomainError } from '../domain/errors.ts';
import { SVC_FILES } from '../domain/reactor-certificates.ts';
import { systemClock } from '../platform/clock.ts';
import { createKubernetesClient } from '../platform/kubernetes/client.ts';
import { loadKubeConfig } from '../platform/kubernetes/kube-config.ts';
import type { Logger } from '../platform/logger.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { showBuild, showCertificates } from '../platform/process-metrics.ts';
import { startMetricsServer } from '../platform/metrics-server.ts';
import {
  type CertificateFiles,
  openServerCertificate,
  type ServerCertificate,
  tlsFilesOf,
} from '../platform/server-certificate.ts';
import { urlOf } from '../platform/server-url.ts';
import { createShutdownStack, type ShutdownStack } from '../platform/shutdown.ts';
import { startApi, type Api } from './api.ts';
import { connectToMigrated } from './databases.ts';
import { openKeyManagement, openVault, type KeyManagementOptions } from './key-management.ts';
import { startKeyRotation } from './key-rotation.ts';
import { startTracing } from './tracing.ts';
import { readVersion } from './version.ts';

export interface ApiServerIo {
  /** One line of the program's own output. */
  readonly write: (line: string) => void;
  readonly logger: Logger;
}

export interface ApiServer {
  /** Finishes what is in flight and closes everything. */
  stop(): Promise<void>;
  /** What that may take, in ms. */
  readonly stopMs: number;
}

interface Surroundings {
  readonly logger: Logger;
  readonly shutdown: ShutdownStack;
}

/** For a TokenReview, in ms: the operator waits for it with each new token. */
const REVIEW_TIMEOUT_MS = 5_000;
/** For closing whatever has no longer anything to do, in ms. */
const CLOSE_MS = 4_000;
/** The same, and for the process to end by itself, in ms. Pods are left more than that. */
const EXIT_MS = 4_800;

async function readSharedSecret(file: string): Promise<string> {
  const secret = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    (cause: unknown) => {
      throw new DomainError('unavailable', 'The secret of the control plane cannot be read here.', { cause });
    },
  );
  // Of a file that is being written, or that nobody can present what it holds.
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new DomainError('unavailable', 'The secret of the control plane is empty here, or holds white space.');
  }
  return secret;
}

function authenticationOf(config: ApiConfig, { shutdown }: Surroundings): InternalAuthentication {
  const { internalTokenFile, kubeconfig, controlPlaneServiceAccounts: accounts = [] } = config;
  if (config.internalAuth === 'token') return acceptSharedSecret(() => readSharedSecret(internalTokenFile!));
  const kubernetes = createKubernetesClient({
    kubeConfig: loadKubeConfig(kubeconfig === undefined ? {} : { kubeconfig }),
    fieldManager: 'tokenkeep-api',
    timeoutMs: REVIEW_TIMEOUT_MS,
  });
  shutdown.push('Kubernetes client', () => kubernetes.close());
  return acceptServiceAccounts({ kubernetes, accounts, clock: systemClock });
}

async function certificateOf(
  files: CertificateFiles,
  name: string,
  { logger, shutdown }: Surroundings,
): Promise<ServerCertificate> {
  const certificate = await openServerCertificate({ ...files, logger });
  shutdown.push(name, () => certificate.close());
  return certificate;
}

async function internalCertificateOf(config: ApiConfig, surroundings: Surroundings) {
  const { internalTlsCertFile: certFile, internalTlsKeyFile: keyFile } = config;
  if (certFile === undefined || keyFile === undefined) return undefined;
  return certificateOf({ certFile, keyFile }, 'certificate', surroundings);
}

async function reactorIdentityOf({ reactorTlsDir }: ApiConfig, surroundings: Surroundings) {
  if (reactorTlsDir === undefined) return undefined;
  return certificateOf(tlsFilesOf(reactorTlsDir), 'certificate for reactors', surroundings);
}

/** What the pods of reactors are served with, and where. */
async function svcOf({ reactorTlsDir, svcPort: port, svcUrl: url }: ApiConfig, surroundings: Surroundings) {
  if (reactorTlsDir === undefined) return undefined;
  const files = { certFile: join(reactorTlsDir, SVC_FILES.certFile), keyFile: join(reactorTlsDir, SVC_FILES.keyFile) };
  return { port, url, certificate: await certificateOf(files, 'certificate for svc', surroundings) };
}

/** In Vault; or, for a first look, in a keyring, which nothing else uses. */
function openKeys(config: ApiConfig, options: KeyManagementOptions & { readonly metrics: Metrics }) {
  const { keyringDir } = config;
  return keyringDir === undefined
    ? openVault(config, options)
    : openKeyManagement({ ...config, dataDir: keyringDir }, options);
}

async function start(config: ApiConfig, write: ApiServerIo['write'], surroundings: Surroundings): Promise<void> {
  const { logger, shutdown } = surroundings;
  const { host, port, internalHost, internalPort, headerPrefixes, corsOrigins } = config;
  const { redisUrl, trustedProxies, ipRateLimits, callbackHttpHosts, metricsHost = host } = config;
  const internalAuthentication = authenticationOf(config, surroundings);
  const internalCertificate = await internalCertificateOf(config, surroundings);
  const reactorIdentity = await reactorIdentityOf(config, surroundings);
  const svc = await svcOf(config, surroundings);
  const version = await readVersion();
  const metrics = createMetrics();
  showBuild(metrics, { version, role: 'api' });
  showCertificates(metrics, { internal: internalCertificate, reactors: reactorIdentity, svc: svc?.certificate });
  const tracing = await startTracing(config, { service: 'tokenkeep-api', version, logger, shutdown });
  const databases = await connectToMigrated(config, { ...surroundings, metrics, tracing });
  const { database, maintenance, connectionString } = databases;
  const keyManagement = await openKeys(config, { database: maintenance, logger, metrics });
  shutdown.push('key management', () => keyManagement.close());
  // It is asked before the API stands, too.
  const started: { api?: Api } = {};
  const metricsServer = await startMetricsServer({
    ...{ host: metricsHost, port: config.metricsPort, registry: metrics.registry },
    figures: (path) => started.api?.figure(path),
  });
  shutdown.push('metrics', () => metricsServer.close(0));

  const api = await startApi({
    ...{ database, maintenance, connectionString, keyManagement, host, port },
    ...{ internalHost, internalPort, internalAuthentication, internalCertificate },
    ...{ reactorIdentity, svc },
    ...{ headerPrefixes, corsOrigins, redisUrl, trustedProxies, ipRateLimits, callbackHttpHosts },
    clock: systemClock,
    ...{ drainMs: config.drainSeconds * 1000, graceMs: config.graceSeconds * 1000 },
    ...{ version, logger, metrics, tracing, shutdown },
  });
  started.api = api;
  startKeyRotation({
    maxAgeMs: config.keyRotation ?? 'off',
    ...{ maintenance, connectionString, keyManagement, logger, shutdown },
  });
  // From here on it is its parts that tell: Postgres and Vault.
  api.becomeReady();
  const internalScheme = internalCertificate === undefined ? 'http' : 'https';
  write(`API ${urlOf(host, api.port)}`);
  if (api.svcPort !== undefined) write(`API for reactors ${urlOf(host, api.svcPort, 'https')}`);
  write(`internal API ${urlOf(internalHost, api.internalPort, internalScheme)}`);
  write(`metrics ${urlOf(metricsHost, metricsServer.port)}/metrics`);
}

/** The data plane alone, over a Postgres that is migrated and a Vault. Resolves once it listens. */
export async function startApiServer(config: ApiConfig, { write, logger }: ApiServerIo): Promise<ApiServer> {
  const servesMs = (config.drainSeconds + config.graceSeconds) * 1000;
  const shutdown = createShutdownStack({ logger, deadlineMs: servesMs + CLOSE_MS });
  try {
    await start(config, write, { logger, shutdown });
  } catch (error) {
    await shutdown.run();
    throw error;
  }
  return { stop: () => shutdown.run(), stopMs: servesMs + EXIT_MS };
}
