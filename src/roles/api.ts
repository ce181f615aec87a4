import { createApp } from '../api/app.ts';
import { createInternalApp } from '../api/internal/app.ts';
import { createRateLimits } from '../api/middleware/rate-limits.ts';
import { tryAdvisoryLock } from '../data/advisory-lock.ts';
import { insertLogs } from '../data/logs.ts';
import { createCacheMetrics } from '../platform/cache-metrics.ts';
import { createHealth } from '../platform/health.ts';
import { noTracing } from '../platform/tracing.ts';
import { createAuditChain } from '../services/audit-chain/audit-chain.ts';
import { createAudit } from '../services/audit.ts';
import { createAuthentication } from '../services/authentication.ts';
import { createChangeFeed } from '../services/change-feed.ts';
import { createCursors } from '../services/cursors.ts';
import { createIdempotency } from '../services/idempotency.ts';
import { keyAccess } from '../services/key-access.ts';
import { CVC_KEYS_TURN, shredCvcKeys } from '../services/key-rotation/cvc-shredding.ts';
import { createKeyFigures } from '../services/key-rotation/key-figures.ts';
import { demandFigure } from '../services/reactors/demand-figure.ts';
import type { ApiAccess } from '../services/reactors/react.ts';
import { sessionAccess } from '../services/sessions/access.ts';
import { createSweeper } from '../services/sweeper.ts';
import { createTokenVault } from '../services/tokens/vault.ts';
import { createWebhookSecrets } from '../services/webhook-secrets.ts';
import { followChanges } from './api/changes.ts';
import { openKeys } from './api/keys.ts';
import { listen } from './api/listen.ts';
import type { ApiOptions } from './api/options.ts';
import { createReactorSide } from './api/reactors.ts';
import { publicRoutes } from './api/routes.ts';
import { startRateLimiter } from './rate-limiter.ts';

export interface Api {
  readonly port: number;
  /** Undefined where there is none. */
  readonly svcPort: number | undefined;
  readonly internalPort: number;
  /** A figure for autoscalers that are not ours: see `demandFigure`. */
  figure(path: string): object | undefined;
  /** Lets `GET /readyz` answer 200 from now on, as long as what it depends on answers. */
  becomeReady(): void;
}

/** Builds the data plane over a migrated database, and listens. */
export async function startApi(options: ApiOptions): Promise<Api> {
  const { database, maintenance, connectionString, headerPrefixes } = options;
  const { clock, logger, metrics, tracing = noTracing, shutdown } = options;
  const caches = createCacheMetrics(metrics);
  const { management, dataKeys, sealer, hasher, check: keyCheck } = openKeys(options, caches);
  const auditChain = createAuditChain({ database: maintenance, keyManagement: management, logger, metrics });
  shutdown.push('audit chain', () => auditChain.stop());
  const audit = createAudit((entries) => insertLogs(database, entries));
  const authentication = createAuthentication({
    findAccess: (digest) => keyAccess(database, digest),
    findSession: (digest) => sessionAccess(database, digest),
    clock,
    observer: caches.observe('access'),
  });
  caches.follow('access', () => authentication.size);
  const changes = createChangeFeed();

  const tokens = { database, vault: createTokenVault(sealer, hasher), audit, clock };
  const applications = { database, authentication, audit, clock };
  const webhookSecrets = createWebhookSecrets({ database, sealer, audit });
  // Known once it listens.
  let access: ApiAccess = { baseUrl: '' };
  const reactorSide = createReactorSide(options, {
    ...{ sealer, hasher, tokens, authentication, audit, webhookSecrets, changes },
    apiAccess: () => access,
  });
  const { reactors, worker } = reactorSide;

  const health = createHealth();
  let ready = false;
  health.addCheck('postgres', () => database.ping());
  health.addCheck('key-management', keyCheck);
  health.addCheck('startup', async () => {
    if (!ready) throw new Error('still starting');
  });

  const { trustedProxies, ipRateLimits } = options;
  const rateLimits = createRateLimits({
    limiter: await startRateLimiter(options),
    ...{ trustedProxies, ipRateLimits, headerPrefixes, logger, metrics },
    countCall: (key) => authentication.countAdmitted(key),
  });
  const app = createApp({
    routes: publicRoutes(options, {
      ...reactorSide,
      ...{ tokens, applications, webhookSecrets, cursors: createCursors(hasher) },
    }),
    authenticate: (key) => authentication.authenticate(key),
    idempotency: createIdempotency({ database, sealer, hasher, audit, logger }),
    ...{ rateLimits, headerPrefixes, health, logger, metrics, tracing },
    ...{ corsOrigins: options.corsOrigins, version: options.version },
  });
  const internalApp = createInternalApp({
    authentication: options.internalAuthentication,
    declared: { ...applications, ...reactors, maintenance, dataKeys },
    ...{ changes, logger },
  });

  await followChanges(options, { authentication, dataKeys, changes });
  const takeTurn = () => tryAdvisoryLock(connectionString, CVC_KEYS_TURN);
  const sweeper = createSweeper({
    database: maintenance,
    shredCvcKeys: () => shredCvcKeys({ database: maintenance, management, takeTurn }),
    ...{ dataKeys, logger, metrics },
  });
  const keyFigures = createKeyFigures({ database: maintenance, management, metrics });
  keyFigures.start();
  shutdown.push('key figures', () => keyFigures.stop());
  sweeper.start();
  auditChain.start();
  shutdown.push('sweeper', () => sweeper.stop());

  const listening = await listen(options, { app, internalApp });
  access = listening.access;
  worker.start();
  // Before the API: code that runs to its end may still call it.
  shutdown.push('asynchronous invocations', async () => {
    await Promise.all([listening.drain(), worker.stop(options.drainMs)]);
  });
  shutdown.push('readiness', () => health.drain());
  return {
    port: listening.port,
    svcPort: listening.svcPort,
    internalPort: listening.internalPort,
    figure: (path) => demandFigure(reactors, path),
    becomeReady() {
      ready = true;
    },
  };
}
