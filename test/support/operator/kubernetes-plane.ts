import { declaredId, tenantIdOf } from '../../../src/domain/declarations.ts';
import type { InternalApiAccess } from '../../../src/operator/internal-connection.ts';
import type { EventToRecord, Regarding } from '../../../src/operator/kubernetes/event-object.ts';
import { createOperator } from '../../../src/operator/operator.ts';
import type { Operator } from '../../../src/operator/operator.ts';
import { createKubernetesSource } from '../../../src/operator/sources/kubernetes.ts';
import { systemTimers } from '../../../src/operator/timers.ts';
import type { Timers } from '../../../src/operator/timers.ts';
import { createKubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { loadKubeConfig } from '../../../src/platform/kubernetes/kube-config.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { createScene } from './crash-scene.ts';
import type { KubernetesObject, Scene, SceneKind } from './crash-scene.ts';
import { createInMemoryRuntime } from './in-memory-runtime.ts';
import type { InMemoryRuntime } from './in-memory-runtime.ts';
import { startInternalApiPeer } from './internal-api-peer.ts';
import type { HeldBody, InternalApiPeer } from './internal-api-peer.ts';

export interface StartOptions {
  clock?: Timers;
  /** Namespaces beside the plane's own. */
  alsoNamespaces?: readonly string[];
  internalApi?: InternalApiAccess;
}

/** A namespace of a real cluster, the peer of the internal API, and operators over them with the chart's own roles. */
export interface KubernetesPlane extends Scene {
  readonly cluster: KubernetesCluster;
  /** An administrator of the cluster. */
  readonly admin: KubernetesClient;
  readonly api: InternalApiPeer;
  readonly runtime: InMemoryRuntime;
  /** What operators told people, in order. */
  readonly events: (EventToRecord & { regarding: Regarding })[];
  /** Resolves once what is there is reconciled. */
  start(options?: StartOptions): Promise<Operator>;
  stop(operator: Operator): Promise<void>;
  condition(kind: SceneKind, name: string, type?: string): Promise<{ status: string; reason: string } | undefined>;
  /** Entries of a Secret as text; fails where there is none. */
  secret(name: string): Promise<Record<string, string>>;
  applicationPath(name: string, tenantId?: string): string;
  reactorPath(name: string, tenantId?: string): string;
  /** What the API holds; fails where it holds nothing. */
  heldAt(path: string): HeldBody;
  /** Digests of the keys declared for an application. */
  digestsOf(application: string): string[];
  /** All that operators logged, at level debug. */
  log(): string;
  close(): Promise<void>;
}

const DEFAULT_TENANT_ID = tenantIdOf('default');
const OPERATOR_ACCOUNT = 'tokenkeep-system/tokenkeep-operator';

export async function createKubernetesPlane(cluster: KubernetesCluster): Promise<KubernetesPlane> {
  const admin = clientOf(cluster.adminKubeconfig);
  const scene = await createScene(admin);
  const kubeconfig = await cluster.kubeconfigFor(OPERATOR_ACCOUNT);
  const api = await startInternalApiPeer();
  const runtime = createInMemoryRuntime();
  const running = new Map<Operator, KubernetesClient>();
  const events: KubernetesPlane['events'] = [];
  const lines: string[] = [];
  const logger = createLogger({ level: 'debug', format: 'json', destination: { write: (line) => lines.push(line) } });
  // Tenants are of the whole cluster: those of other tests come along.
  const isOurs = ({ namespace, name }: Regarding) => namespace !== '' || name.startsWith(`${scene.namespace}-`);
  const idOf = (kind: 'Application' | 'Reactor', name: string, tenantId: string) =>
    declaredId(tenantId, kind, scene.namespace, name);

  async function stop(operator: Operator): Promise<void> {
    await operator.stop();
    running.get(operator)?.close();
    running.delete(operator);
  }

  const plane: KubernetesPlane = {
    ...scene,
    ...{ cluster, admin, api, runtime, events, stop },
    async start({ clock = systemTimers, alsoNamespaces = [], internalApi = api } = {}) {
      const client = clientOf(kubeconfig);
      const source = createKubernetesSource({
        ...{ client, clock, logger },
        recorder: { record: (regarding, event) => void (isOurs(regarding) && events.push({ ...event, regarding })) },
        watchNamespaces: [scene.namespace, ...alsoNamespaces],
      });
      const operator = createOperator({
        ...{ source, runtime, clock, logger },
        internalApi: { baseUrl: internalApi.baseUrl, token: internalApi.token },
        publicBaseUrl: 'https://vault.example.com',
      });
      running.set(operator, client);
      await operator.start();
      await operator.reconciled;
      return operator;
    },
    async condition(kind, name, type = 'Ready') {
      const object = await scene.read(kind, name);
      return object?.status?.conditions?.find((condition) => condition.type === type);
    },
    async secret(name) {
      const object = await scene.read('Secret', name);
      if (object === undefined) throw new Error(`There is no Secret ${name}`);
      return entriesOf(object);
    },
    applicationPath: (name, tenantId = DEFAULT_TENANT_ID) =>
      `tenants/${tenantId}/applications/${idOf('Application', name, tenantId)}`,
    reactorPath: (name, tenantId = DEFAULT_TENANT_ID) =>
      `tenants/${tenantId}/reactors/${idOf('Reactor', name, tenantId)}`,
    heldAt(path) {
      const body = api.held.get(path);
      if (body === undefined) throw new Error(`The API holds nothing at ${path}`);
      return body;
    },
    digestsOf: (application) =>
      (plane.heldAt(plane.applicationPath(application)).keys ?? []).map(({ digest }) => digest),
    log: () => lines.join(''),
    async close() {
      await Promise.all([...running.keys()].map(stop));
      await api.close();
      await releaseAll(scene);
      admin.close();
    },
  };
  return plane;
}

export function clientOf(kubeconfig: string): KubernetesClient {
  return createKubernetesClient({ kubeConfig: loadKubeConfig({ kubeconfig }) });
}

export function entriesOf({ data = {} }: KubernetesObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([entry, value]) => [entry, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

/** Deletes what is left of a scene, also what waits for an operator: there is none any more. */
async function releaseAll(scene: Scene): Promise<void> {
  for (const kind of ['AccessRule', 'Reactor', 'Application', 'Tenant'] as const) {
    for (const { metadata } of await scene.list(kind)) {
      await scene.patch(kind, metadata.name, { metadata: { finalizers: null } }).catch(() => undefined);
      await scene.remove(kind, metadata.name);
    }
  }
  await scene.remove('Namespace', scene.namespace);
}
