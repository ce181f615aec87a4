import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acceptSharedSecret } from '../../src/api/internal/authentication.ts';
import type { Database } from '../../src/data/database.ts';
import type { AccessRule } from '../../src/domain/access.ts';
import { digestOfKey, generateApplicationKey } from '../../src/domain/application-keys.ts';
import type { ApplicationType } from '../../src/domain/applications.ts';
import type { ApplicationDeclaration, TenantDeclaration } from '../../src/domain/declarations.ts';
import type { Json } from '../../src/domain/json.ts';
import { PERMISSION_NAMES, mayHold, type Permission } from '../../src/domain/permissions.ts';
import type { RateLimitQuota } from '../../src/domain/rate-limit-quotas.ts';
import { DEFAULT_QUOTAS, DEFAULT_SETTINGS } from '../../src/domain/tenants.ts';
import type { KeyManagement } from '../../src/keys/key-management.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import { createOperator } from '../../src/operator/operator.ts';
import { createProcessRuntime } from '../../src/operator/runtimes/process.ts';
import { createFolderSource } from '../../src/operator/sources/folder.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createMetrics, type Metrics } from '../../src/platform/metrics.ts';
import { createLogger, type Logger } from '../../src/platform/logger.ts';
import { createShutdownStack } from '../../src/platform/shutdown.ts';
import { startApi } from '../../src/roles/api.ts';
import type { ApiOptions } from '../../src/roles/api/options.ts';
import { learnDocument, runRecorder } from './exchange-recorder.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { keepOutput, plantedCanary } from './run-canaries.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** An answer as tests look at it. */
export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined without a body. */
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- answers are looked into freely
}

export interface RequestOptions {
  key?: string;
  body?: Json | object;
  /** Sent as it is, in the place of `body`. */
  rawBody?: string | Buffer;
  headers?: Record<string, string>;
}

export interface TestApplication {
  id: string;
  tenantId: string;
  key: string;
}

/** A vault with a database of its own: the real API over HTTP, and reactors in processes where asked for. */
export interface TestVault {
  readonly baseUrl: string;
  readonly internalUrl: string;
  readonly internalToken: string;
  /** As the owner of the tables, whom no policy holds: for tests to look at them. */
  readonly connectionString: string;
  readonly database: Database;
  /** What the API itself runs its statements on, and connects as. */
  readonly apiDatabase: Database;
  readonly apiConnectionString: string;
  /** What it sweeps with. */
  readonly maintenance: Database;
  readonly sweeperConnectionString: string;
  readonly metrics: Metrics;
  readonly dataDir: string;
  /** Fails where the OpenAPI document does not have the answer. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Puts a tenant through the internal API; gives its id. Without `rateLimit`, its requests are not limited. */
  tenant(overrides?: Partial<TenantDeclaration>, rateLimit?: RateLimitQuota): Promise<string>;
  /** Puts an application with one key through the internal API. Without access given, it has all its type may have. */
  application(options?: {
    tenantId?: string;
    type?: ApplicationType;
    permissions?: Permission[];
    rules?: AccessRule[];
    declaration?: Partial<ApplicationDeclaration>;
  }): Promise<TestApplication>;
  internal(method: string, path: string, body?: object): Promise<Answer>;
  stop(): Promise<void>;
}

export interface TestVaultOptions {
  /** Whether reactors run: an operator without declarations, and processes for instances. */
  reactors?: boolean;
  clock?: Clock;
  logger?: Logger;
  rateLimits?: Partial<RateLimitSettings>;
  broadReads?: ApiOptions['broadReads'];
  corsOrigins?: readonly string[];
  callbackHttpHosts?: ApiOptions['callbackHttpHosts'];
  callbackEgress?: ApiOptions['callbackEgress'];
  /** A keyring in the data folder, unless given. It is closed with the vault. */
  keyManagement?: KeyManagement;
  /** As whom it calls instances in pods. */
  reactorIdentity?: ApiOptions['reactorIdentity'];
  /** How those call it back. */
  svc?: ApiOptions['svc'];
  dataKeyLimits?: ApiOptions['dataKeyLimits'];
  /** In the place of a new one of the run's own Postgres. It is disposed of with the vault. */
  openDatabase?: () => Promise<TestDatabase>;
}

export type RateLimitSettings = Pick<ApiOptions, 'redisUrl' | 'trustedProxies' | 'ipRateLimits'>;

/** Only tests of the limiter are to meet it: tenants are unlimited, and addresses not counted. */
export const NO_RATE_LIMITS: RateLimitSettings = { redisUrl: undefined, trustedProxies: 0, ipRateLimits: false };

/** What vaults log is looked through when the run ends. */
function keptLogger(): Logger {
  return createLogger({
    ...{ level: 'debug', format: 'json' },
    destination: { write: (line) => keepOutput('logs-of-vaults', line.trimEnd()) },
  });
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : isJson ? JSON.parse(text) : text,
  };
}

export async function startTestVault(options: TestVaultOptions = {}): Promise<TestVault> {
  const { clock = { now: () => Date.now() }, logger = keptLogger() } = options;
  const shutdown = createShutdownStack({ logger });
  const dataDir = await mkdtemp(join(tmpdir(), 'tokenkeep-vault-'));
  shutdown.push('folder', () => rm(dataDir, { recursive: true, force: true }));
  const testDatabase = await (options.openDatabase ?? createTestDatabase)();
  const { database, connectionString, apiConnectionString, sweeperConnectionString, maintenance } = testDatabase;
  const apiDatabase = testDatabase.api;
  shutdown.push('database', () => testDatabase.dispose());
  const metrics = createMetrics();
  const internalToken = randomBytes(16).toString('hex');
  const keyManagement =
    options.keyManagement ?? (await openKeyring(join(dataDir, 'keyring.json'), { isNeeded: async () => false }));
  shutdown.push('key management', () => keyManagement.close());
  const api = await startApi({
    ...{ database: apiDatabase, maintenance, connectionString: apiConnectionString },
    ...{ clock, logger, shutdown },
    internalAuthentication: acceptSharedSecret(async () => internalToken),
    ...{ keyManagement, dataKeyLimits: options.dataKeyLimits },
    host: '127.0.0.1',
    port: 0,
    internalHost: '127.0.0.1',
    internalPort: 0,
    ...{ reactorIdentity: options.reactorIdentity, svc: options.svc },
    headerPrefixes: ['SVC', 'BT'],
    ...NO_RATE_LIMITS,
    ...options.rateLimits,
    broadReads: options.broadReads,
    corsOrigins: options.corsOrigins ?? [],
    ...{ callbackHttpHosts: options.callbackHttpHosts, callbackEgress: options.callbackEgress },
    version: '0.0.0-test',
    metrics,
  });
  api.becomeReady();
  const baseUrl = `http://127.0.0.1:${api.port}`;
  const internalUrl = `http://127.0.0.1:${api.internalPort}`;

  if (options.reactors === true) {
    const runtime = createProcessRuntime({ command: [MAIN, 'reactor'] });
    shutdown.push('instances', () => runtime.stop());
    const operator = createOperator({
      source: createFolderSource({ manifestsDir: dataDir, dataDir, logger }),
      runtime,
      internalApi: { baseUrl: internalUrl, token: internalToken },
      publicBaseUrl: baseUrl,
      logger,
    });
    shutdown.push('operator', () => operator.stop());
    await operator.start();
    await operator.reconciled;
  }

  async function request(method: string, path: string, { key, body, rawBody, headers = {} }: RequestOptions = {}) {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(baseUrl + path, {
      method,
      redirect: 'error',
      headers: {
        ...(key === undefined ? {} : { 'svc-api-key': key }),
        ...(body === undefined && rawBody === undefined ? {} : { 'content-type': contentType }),
        ...headers,
      },
      ...(rawBody === undefined ? (body === undefined ? {} : { body: JSON.stringify(body) }) : { body: rawBody }),
    });
    const answer = await read(response);
    runRecorder()?.record({ method, path, requestBody: body, answer });
    return answer;
  }

  async function internal(method: string, path: string, body?: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${internalToken}`, 'content-type': 'application/json' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    return read(await fetch(`${internalUrl}/internal${path}`, { method, headers, ...init }));
  }

  async function tenant(
    overrides: Partial<TenantDeclaration> = {},
    rateLimit: RateLimitQuota = { plan: 'Unlimited' },
  ): Promise<string> {
    const id = randomUUID();
    const declaration = { name: id, type: 'production', settings: DEFAULT_SETTINGS, ...overrides };
    const quotas = { ...DEFAULT_QUOTAS, ...overrides.quotas, rateLimit };
    const { status } = await internal('PUT', `/tenants/${id}`, { ...declaration, quotas });
    if (status !== 200) throw new Error(`tenant not put: ${status}`);
    return id;
  }

  await learnDocument(baseUrl);
  let common: string | undefined;
  return {
    ...{ baseUrl, internalUrl, internalToken, metrics, dataDir, request, internal, tenant },
    ...{ connectionString, database, apiDatabase, apiConnectionString, maintenance, sweeperConnectionString },
    async application({ tenantId, type = 'private', permissions, rules = [], declaration = {} } = {}) {
      const owner = tenantId ?? (common ??= await tenant());
      const id = randomUUID();
      const key = plantedCanary('application key', generateApplicationKey('production', type));
      const all = rules.length > 0 ? [] : PERMISSION_NAMES.filter((name) => mayHold(type, name));
      const answer = await internal('PUT', `/tenants/${owner}/applications/${id}`, {
        ...{ name: 'test', type, permissions: permissions ?? all, rules },
        keys: [{ id: randomUUID(), digest: digestOfKey(key) }],
        ...declaration,
      });
      if (answer.status !== 200) throw new Error(`application not put: ${JSON.stringify(answer.body)}`);
      return { id, tenantId: owner, key };
    },
    async stop() {
      keepOutput('metrics-of-vaults', await metrics.registry.metrics());
      await shutdown.run();
    },
  };
}
