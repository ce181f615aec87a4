import { join } from 'node:path';
import { acceptSharedSecret } from '../../src/api/internal/authentication.ts';
import { createDatabase } from '../../src/data/database.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { silentLogger } from '../../src/platform/logger.ts';
import { createMetrics, type Metrics } from '../../src/platform/metrics.ts';
import { createShutdownStack } from '../../src/platform/shutdown.ts';
import { startApi } from '../../src/roles/api.ts';
import type { ApiOptions } from '../../src/roles/api/options.ts';
import { NO_RATE_LIMITS, type RateLimitSettings, type TestVault } from './vault.ts';

/** One more API over the database and, if not given, the keyring of a vault, with connections and caches of its own. */
export async function startReplica(
  vault: TestVault,
  connectionString = vault.apiConnectionString,
  rateLimits: Partial<RateLimitSettings> = {},
  own: Partial<Pick<ApiOptions, 'keyManagement' | 'dataKeyLimits' | 'callbackHttpHosts'>> = {},
): Promise<{ baseUrl: string; internalUrl: string; metrics: Metrics; stop(): Promise<void> }> {
  const logger = silentLogger;
  const metrics = createMetrics();
  const shutdown = createShutdownStack({ logger });
  const database = createDatabase({ connectionString, logger, tenantScoped: true });
  shutdown.push('database', () => database.close());
  const maintenance = createDatabase({ connectionString: vault.sweeperConnectionString, logger, poolSize: 2 });
  shutdown.push('maintenance', () => maintenance.close());
  const api = await startApi({
    ...{ database, maintenance, connectionString, logger, shutdown, clock: systemClock, metrics },
    ...{ host: '127.0.0.1', port: 0, internalHost: '127.0.0.1', internalPort: 0 },
    internalAuthentication: acceptSharedSecret(async () => vault.internalToken),
    keyManagement:
      own.keyManagement ?? (await openKeyring(join(vault.dataDir, 'keyring.json'), { isNeeded: async () => true })),
    ...{ dataKeyLimits: own.dataKeyLimits, callbackHttpHosts: own.callbackHttpHosts },
    headerPrefixes: ['SVC', 'BT'],
    corsOrigins: [],
    ...NO_RATE_LIMITS,
    ...rateLimits,
    version: '0.0.0-test',
  });
  api.becomeReady();
  return {
    baseUrl: `http://127.0.0.1:${api.port}`,
    internalUrl: `http://127.0.0.1:${api.internalPort}`,
    metrics,
    stop: () => shutdown.run(),
  };
}
