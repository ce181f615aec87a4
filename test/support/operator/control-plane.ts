import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { declaredId, tenantIdOf } from '../../../src/domain/declarations.ts';
import type { Condition } from '../../../src/domain/resource-status.ts';
import type { ReplicaDirectory } from '../../../src/operator/api-replicas.ts';
import { createOperator } from '../../../src/operator/operator.ts';
import type { Operator } from '../../../src/operator/operator.ts';
import type { ReactorRuntime } from '../../../src/operator/runtimes/types.ts';
import { createFolderSource } from '../../../src/operator/sources/folder.ts';
import type { ResourceRecord, StatusFileContent } from '../../../src/operator/sources/folder/status-file.ts';
import { systemTimers } from '../../../src/operator/timers.ts';
import type { Timers } from '../../../src/operator/timers.ts';
import { type LogFields, silentLogger } from '../../../src/platform/logger.ts';
import { createInMemoryRuntime } from './in-memory-runtime.ts';
import type { HeldBody } from './internal-api-peer.ts';
import { startInternalApiPeer } from './internal-api-peer.ts';

export const TENANT = tenantIdOf('default');

export function applicationPath(name: string, tenantId = TENANT, namespace = 'default'): string {
  return `tenants/${tenantId}/applications/${declaredId(tenantId, 'Application', namespace, name)}`;
}

export function reactorPath(name: string, tenantId = TENANT): string {
  return `tenants/${tenantId}/reactors/${declaredId(tenantId, 'Reactor', 'default', name)}`;
}

/** A manifests folder, a data folder and the peer of the internal API, with operators over them. */
export async function createControlPlane() {
  const root = await mkdtemp(path.join(tmpdir(), 'tokenkeep-operator-'));
  const manifestsDir = path.join(root, 'manifests');
  const dataDir = path.join(root, 'data');
  await mkdir(manifestsDir);
  const api = await startInternalApiPeer();
  const runtime = createInMemoryRuntime();
  const running = new Set<Operator>();
  /** What the operators have warned of. */
  const warnings: LogFields[] = [];
  const warn = (fields: LogFields | string): void =>
    void warnings.push(typeof fields === 'string' ? { message: fields } : fields);

  return {
    warnings,
    manifestsDir,
    dataDir,
    api,
    runtime,
    async start({
      reactorRuntime = runtime,
      apiReplicas,
      clock = systemTimers,
    }: { reactorRuntime?: ReactorRuntime; apiReplicas?: ReplicaDirectory; clock?: Timers } = {}): Promise<Operator> {
      const operator = createOperator({
        source: createFolderSource({ manifestsDir, dataDir, logger: silentLogger }),
        runtime: reactorRuntime,
        internalApi: { baseUrl: api.baseUrl, token: api.token },
        apiReplicas,
        clock,
        publicBaseUrl: 'http://127.0.0.1:8080',
        logger: { ...silentLogger, warn },
      });
      running.add(operator);
      await operator.start();
      return operator;
    },
    async stop(operator: Operator): Promise<void> {
      running.delete(operator);
      await operator.stop();
    },
    write: (file: string, text: string) => writeFile(path.join(manifestsDir, file), text),
    remove: (file: string) => rm(path.join(manifestsDir, file)),
    secretPath: (secret: string, entry: string) => path.join(dataDir, 'secrets', 'default', secret, entry),
    secret: (secret: string, entry: string) =>
      readFile(path.join(dataDir, 'secrets', 'default', secret, entry), 'utf8'),
    async status(): Promise<StatusFileContent> {
      return JSON.parse(await readFile(path.join(dataDir, 'status.json'), 'utf8')) as StatusFileContent;
    },
    async record(kind: string, name: string): Promise<ResourceRecord | undefined> {
      const { records } = await this.status();
      return records.find((record) => record.ref.kind === kind && record.ref.name === name);
    },
    async condition(kind: string, name: string, type = 'Ready'): Promise<Condition | undefined> {
      const record = await this.record(kind, name);
      return record?.status?.conditions.find((condition) => condition.type === type);
    },
    async close(): Promise<void> {
      await Promise.all([...running].map((operator) => operator.stop()));
      await api.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

export type ControlPlane = Awaited<ReturnType<typeof createControlPlane>>;

/** A document of `tokenkeep.dev/v1alpha1`; `spec` in JSON, which is YAML too. */
export function manifest(kind: string, name: string, spec: object, metadata: object = {}): string {
  const document = { apiVersion: 'tokenkeep.dev/v1alpha1', kind, metadata: { name, ...metadata }, spec };
  return `---\n${JSON.stringify(document, undefined, 2)}\n`;
}

/** What the peer holds at a path; fails the test where it holds nothing. */
export function heldAt(plane: ControlPlane, path: string): HeldBody {
  const body = plane.api.held.get(path);
  if (body === undefined) throw new Error(`The API holds nothing at ${path}`);
  return body;
}

/** The digests of the keys declared for an application. */
export function digestsAt(plane: ControlPlane, path: string): string[] {
  return (heldAt(plane, path).keys ?? []).map(({ digest }) => digest);
}
