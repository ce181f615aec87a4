import type { RequestListener } from 'node:http';
import type Koa from 'koa';
import { createApp } from '../api/app.ts';
import { createInternalApp } from '../api/internal/app.ts';
import { createRateLimits } from '../api/middleware/rate-limits.ts';
import { applicationKeyRoutes } from '../api/routes/application-keys/index.ts';
import { applicationRoutes } from '../api/routes/applications/index.ts';
import { applicationTemplateRoutes } from '../api/routes/application-templates/index.ts';
import { logRoutes } from '../api/routes/logs/index.ts';
import { permissionRoutes } from '../api/routes/permissions/index.ts';
import { reactorRoutes } from '../api/routes/reactors/index.ts';
import { sessionRoutes } from '../api/routes/sessions/index.ts';
import { tenantRoutes } from '../api/routes/tenants/index.ts';
import { tokenRoutes } from '../api/routes/tokens/index.ts';
import { unservedRoutes } from '../api/routes/unserved/index.ts';
import { tryAdvisoryLock } from '../data/advisory-lock.ts';
import { listenForChanges } from '../data/changes.ts';
import { sampleDataKeys } from '../data/data-key-samples.ts';
import { createDataKeyStore } from '../data/data-keys.ts';
import type { Database } from '../data/database.ts';
import { findKeyAccess } from '../data/key-access.ts';
import { insertLogs } from '../data/logs.ts';
import { createDataKeys, DEFAULT_DATA_KEY_LIMITS, type DataKeyLimits } from '../keys/data-keys.ts';
import type { KeyManagement } from '../keys/key-management.ts';
import { watchKeyManagement } from '../keys/key-watch.ts';
import { createKeyedHasher } from '../keys/keyed-hashes.ts';
import { createSealer } from '../keys/sealing.ts';
import type { Clock } from '../platform/clock.ts';
import { createHealth } from '../platform/health.ts';
import { startHttpServer } from '../platform/http-server.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { ShutdownStack } from '../platform/shutdown.ts';
import { createReactorClient } from '../reactors/client.ts';
import { createAuditChain } from '../services/audit-chain/audit-chain.ts';
import { createAudit } from '../services/audit.ts';
import { createAuthentication, type AccessRecord } from '../services/authentication.ts';
import { createChangeFeed } from '../services/change-feed.ts';
import { createCursors } from '../services/cursors.ts';
import { createDamageReport } from '../services/damage.ts';
import { createIdempotency } from '../services/idempotency.ts';
import { createReactorVault } from '../services/reactors/vault.ts';
import { CVC_KEYS_TURN, shredCvcKeys } from '../services/key-rotation/cvc-shredding.ts';
import { sessionAccess } from '../services/sessions/access.ts';
import { createSweeper } from '../services/sweeper.ts';
import { type BroadReadLimits, createBroadReads } from '../services/tokens/broad-reads.ts';
import { createLargePages } from '../services/tokens/large-pages.ts';
import { createTokenVault } from '../services/tokens/vault.ts';
import { createUpdateTurns } from '../services/update-turns.ts';
import { startRateLimiter } from './rate-limiter.ts';

export interface ApiOptions {
  /** Of the API: confined to the tenant in scope. */
  readonly database: Database;
  /** Of the sweeper: for work across tenants. */
  readonly maintenance: Database;
  /** For the connection that listens to changes; may hold a password. */
  readonly connectionString: string;
  /** Need not answer yet: the API is not ready until it does. */
  readonly keyManagement: KeyManagement;
  /** What of the bounds of data keys is not as it always is. */
  readonly dataKeyLimits?: Partial<DataKeyLimits> | undefined;
  readonly host: string;
  readonly port: number;
  /** Who reaches it and holds the token may read every reactor's code: never wider than the control plane needs. */
  readonly internalHost: string;
  readonly internalPort: number;
  /** What the control plane presents to the internal API. */
  readonly internalToken: string;
  readonly headerPrefixes: readonly string[];
  /** Whose pages may call the API: origins as browsers send them, or `*` alone. Nobody's where it is empty. */
  readonly corsOrigins: readonly string[];
  /** Counters of rate limits are in memory where it is undefined. May hold a password. */
  readonly redisUrl: string | undefined;
  /** How many proxies in front of the API append to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  /** Whether requests are counted by their address alone. */
  readonly ipRateLimits: boolean;
  /** What of the bounds of searches, and lists by metadata, is not as it always is. */
  readonly broadReads?: Partial<BroadReadLimits> | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Takes what has been started, last started first. */
  readonly shutdown: ShutdownStack;
}

export interface Api {
  readonly port: number;
  readonly internalPort: number;
  /** Lets `GET /readyz` answer 200 from now on, as long as what it depends on answers. */
  becomeReady(): void;
}

/** Requests in flight may take this long once the API is asked to stop, in ms. */
const GRACE_MS = 5_000;

async function accessOf(database: Database, digest: string): Promise<AccessRecord | undefined> {
  const access = await findKeyAccess(database, digest);
  if (access === undefined) return undefined;
  const { expiresAt, ...caller } = access;
  return { caller, endsAt: expiresAt?.getTime() ?? Infinity };
}

/** Where a server that listens on this address is reached from the same machine. */
export function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function listenerOf(app: Koa): RequestListener {
  const handle = app.callback();
  return (request, response) => void handle(request, response);
}

/** Builds the data plane over a migrated database, and listens. */
export async function startApi(options: ApiOptions): Promise<Api> {
  const { database, maintenance, clock, logger, metrics, shutdown, headerPrefixes } = options;
  const reportDamage = createDamageReport({ metrics, logger });
  const dataKeyLimits = { ...DEFAULT_DATA_KEY_LIMITS, ...options.dataKeyLimits };
  const keyWatch = watchKeyManagement({
    management: options.keyManagement,
    samples: () => sampleDataKeys(maintenance),
    cacheTtlMs: dataKeyLimits.cacheTtlMs,
    ...{ clock, logger, metrics },
  });
  keyWatch.start();
  shutdown.push('key management watch', () => keyWatch.stop());
  const dataKeys = createDataKeys({
    management: keyWatch.management,
    store: createDataKeyStore(database),
    clock,
    limits: dataKeyLimits,
    onBroken: ({ tenantId, id }) => reportDamage({ tenantId, table: 'data_keys', rowId: id, column: 'wrapped' }),
  });
  shutdown.push('data keys', () => dataKeys.close());
  const auditChain = createAuditChain({ database: maintenance, keyManagement: options.keyManagement, logger, metrics });
  shutdown.push('audit chain', () => auditChain.stop());
  const sealer = createSealer(dataKeys, { onBroken: reportDamage });
  const hasher = createKeyedHasher(dataKeys);
  const audit = createAudit((entries) => insertLogs(database, entries));
  const authentication = createAuthentication({
    findAccess: (digest) => accessOf(database, digest),
    findSession: (digest) => sessionAccess(database, digest),
    clock,
  });
  const cursors = createCursors(hasher);
  const changes = createChangeFeed();
  const client = createReactorClient();
  shutdown.push('reactor client', () => client.stop());

  const health = createHealth();
  let ready = false;
  health.addCheck('postgres', () => database.ping());
  health.addCheck('key-management', keyWatch.check);
  health.addCheck('startup', async () => {
    if (!ready) throw new Error('still starting');
  });

  const tokens = { database, vault: createTokenVault(sealer, hasher), audit, clock };
  const broadReads = createBroadReads({ database, metrics, limits: options.broadReads });
  const largePages = createLargePages({ metrics });
  const applications = { database, authentication, audit, clock };
  const reactors = { database, vault: createReactorVault(sealer, hasher), client, audit, clock };
  let baseUrl = '';
  const invocation = {
    ...reactors,
    tokens,
    authentication,
    apiBaseUrl: () => baseUrl,
    headerPrefix: headerPrefixes[0]!,
  };
  const routes = [
    ...tokenRoutes({ ...tokens, cursors, broadReads, largePages, tokenUpdates: createUpdateTurns('token') }),
    ...applicationRoutes(applications),
    ...applicationKeyRoutes(applications),
    ...sessionRoutes({ database, clock }),
    ...tenantRoutes({ database, authentication, audit }),
    ...reactorRoutes({ ...reactors, invocation, reactorUpdates: createUpdateTurns('reactor') }),
    ...logRoutes({ database, cursors }),
    ...permissionRoutes(),
    ...applicationTemplateRoutes(),
    ...unservedRoutes(),
  ];
  const { trustedProxies, ipRateLimits } = options;
  const limiter = await startRateLimiter(options);
  const rateLimits = createRateLimits({
    limiter,
    trustedProxies,
    ipRateLimits,
    headerPrefixes,
    countCall: (key) => authentication.countAdmitted(key),
    logger,
    metrics,
  });
  const app = createApp({
    routes,
    authenticate: (key) => authentication.authenticate(key),
    idempotency: createIdempotency({ database, sealer, hasher, audit, logger }),
    rateLimits,
    headerPrefixes,
    corsOrigins: options.corsOrigins,
    health,
    logger,
    metrics,
    version: options.version,
  });
  const internalApp = createInternalApp({
    token: options.internalToken,
    declared: { ...applications, ...reactors, maintenance, dataKeys },
    changes,
    logger,
  });

  const listener = await listenForChanges(options.connectionString, {
    onChange(change) {
      if (change.kind === 'application') authentication.forgetApplication(change.id);
      if (change.kind === 'tenant') {
        authentication.forgetAll();
        dataKeys.forget(change.id);
      }
      changes.publish(change);
    },
    onGap() {
      authentication.forgetAll();
      changes.publish({ kind: 'resync' });
    },
    logger,
  });
  shutdown.push('change listener', () => listener.close());
  const sweeper = createSweeper({
    database: maintenance,
    dataKeys,
    shredCvcKeys: () =>
      shredCvcKeys({
        database: maintenance,
        management: options.keyManagement,
        takeTurn: () => tryAdvisoryLock(options.connectionString, CVC_KEYS_TURN),
      }),
    ...{ logger, metrics },
  });
  sweeper.start();
  auditChain.start();
  shutdown.push('sweeper', () => sweeper.stop());

  const internal = await startHttpServer({
    host: options.internalHost,
    port: options.internalPort,
    portFlag: '--internal-port',
    listener: listenerOf(internalApp),
  });
  shutdown.push('internal API', () => internal.close(0));
  const server = await startHttpServer({
    host: options.host,
    port: options.port,
    portFlag: '--port',
    listener: listenerOf(app),
  });
  shutdown.push('API', () => server.close(GRACE_MS));
  shutdown.push('readiness', () => health.drain());
  baseUrl = urlOf(options.host, server.port);
  return {
    port: server.port,
    internalPort: internal.port,
    becomeReady() {
      ready = true;
    },
  };
}
