import { fileURLToPath } from 'node:url';
import type { Registry } from 'prom-client';
import { createControllerMetrics } from '../../../src/operator/controller-metrics.ts';
import { registerReplicaMetrics } from '../../../src/operator/replica-metrics.ts';
import { registerResourceMetrics } from '../../../src/operator/resource-metrics.ts';
import { createDatabaseMetrics } from '../../../src/data/database-metrics.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics, type Metrics } from '../../../src/platform/metrics.ts';
import { showBuild, showCertificates } from '../../../src/platform/process-metrics.ts';
import { createInstanceMetrics } from '../../../src/reactors/host/instance-metrics.ts';
import { openVault } from '../../../src/roles/key-management.ts';
import { createOperatorMetrics } from '../../../src/roles/operator-metrics.ts';
import { readCommand } from '../../../src/config/command.ts';
import type { ApiConfig } from '../../../src/config/api.ts';
import { startTestVault } from '../vault.ts';

/** A metric as it is registered. */
export interface RegisteredMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Stands for a file that is never read. */
const THIS_FILE = fileURLToPath(import.meta.url);
const NOWHERE = '127.0.0.1:9';

/** The metrics that each role may have, whatever its settings: of the API with all that it can be told to use. */
export async function metricsOfRoles(): Promise<Readonly<Record<'api' | 'operator' | 'reactor', RegisteredMetric[]>>> {
  const vault = await startTestVault({ rateLimits: { redisUrl: `redis://${NOWHERE}` } });
  try {
    showProcess(vault.metrics);
    createDatabaseMetrics(vault.metrics);
    const environment = { VAULT_TOKEN: 'none', TOKENKEEP_DATABASE_URL: vault.connectionString };
    const flags = [
      '--vault-addr',
      `http://${NOWHERE}`,
      '--vault-allow-http',
      '--vault-timeout',
      '1s',
      '--internal-port',
      '0',
    ];
    const config = configOf([...flags, '--internal-token-file', THIS_FILE, '--internal-auth', 'token'], environment);
    const options = { database: vault.maintenance, logger: silentLogger, metrics: vault.metrics };
    await (await openVault(config, options)).close();
    return { api: read(vault.metrics.registry), operator: ofOperator(), reactor: ofReactor() };
  } finally {
    await vault.stop();
  }
}

function configOf(flags: readonly string[], environment: Record<string, string>): ApiConfig {
  const command = readCommand(['api', ...flags], environment);
  if (command.action !== 'run' || command.role !== 'api') throw new Error(JSON.stringify(command));
  return command.config;
}

function ofOperator(): RegisteredMetric[] {
  const metrics = createMetrics();
  const { registry } = metrics;
  showBuild(metrics, { version: '0', role: 'operator' });
  createOperatorMetrics(registry, 'lease');
  createControllerMetrics(registry);
  registerResourceMetrics(registry, { list: () => [] });
  registerReplicaMetrics(registry, { states: () => [] });
  return read(registry);
}

function ofReactor(): RegisteredMetric[] {
  const metrics = createMetrics();
  showProcess(metrics);
  createInstanceMetrics(metrics).follow(() => ({ inFlight: 0, concurrency: 1 }));
  return read(metrics.registry);
}

function showProcess(metrics: Metrics): void {
  showBuild(metrics, { version: '0', role: 'test' });
  showCertificates(metrics, {});
}

/** prom-client keeps the names of labels to itself. */
function read(registry: Registry): RegisteredMetric[] {
  return registry.getMetricsAsArray().map((metric) => {
    const { name, help, type, labelNames } = metric as unknown as {
      name: string;
      help: string;
      type: string;
      labelNames: string[];
    };
    return { name, help, type, labels: labelNames.filter((label) => label !== 'le') };
  });
}
