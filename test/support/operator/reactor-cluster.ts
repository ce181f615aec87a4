import { expect } from 'chai';
import type { ReactorWorkload } from '../../../src/domain/declarations.ts';
import { createEventRecorder } from '../../../src/operator/kubernetes/event-recorder.ts';
import type { EventRecorder } from '../../../src/operator/kubernetes/event-recorder.ts';
import { createKubernetesRuntime } from '../../../src/operator/runtimes/kubernetes.ts';
import type { KubernetesRuntimeOptions } from '../../../src/operator/runtimes/kubernetes.ts';
import type { ReactorRuntime, RuntimeState } from '../../../src/operator/runtimes/types.ts';
import { systemTimers } from '../../../src/operator/timers.ts';
import { workloadName } from '../../../src/operator/workloads/names.ts';
import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { eventually } from '../eventually.ts';
import { isWrite, readAuditLog } from '../kubernetes/audit-log.ts';
import type { AuditedRequest } from '../kubernetes/audit-log.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { clientOf } from './kubernetes-plane.ts';

/** As much of any object of a workload as tests look at. */
export interface WorkloadObject {
  kind: string;
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    deletionTimestamp?: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
    managedFields?: { manager: string; operation: string; subresource?: string; fieldsV1: object }[];
  };
  immutable?: boolean;
  data?: Record<string, string>;
  spec?: Record<string, unknown> & { replicas?: number };
  status?: Record<string, unknown>;
}

export const PLURALS = {
  deployments: 'apps/v1',
  replicasets: 'apps/v1',
  services: 'v1',
  secrets: 'v1',
  pods: 'v1',
  resourcequotas: 'v1',
  networkpolicies: 'networking.k8s.io/v1',
  poddisruptionbudgets: 'policy/v1',
} as const;

export type WorkloadPlural = keyof typeof PLURALS;

/** A namespace for reactors of a real cluster that enforces the Pod Security Standard "restricted". */
export interface ReactorCluster {
  readonly cluster: KubernetesCluster;
  readonly namespace: string;
  readonly admin: KubernetesClient;
  /** Those that were told last, by `tenantId/reactorId`. */
  readonly told: Map<string, RuntimeState>;
  /** A runtime with the chart's roles; stopped with the cluster, unless it is before. */
  start(options?: Partial<KubernetesRuntimeOptions>): ReactorRuntime;
  list(plural: WorkloadPlural): Promise<WorkloadObject[]>;
  read(plural: WorkloadPlural, name: string): Promise<WorkloadObject>;
  create(plural: WorkloadPlural, object: object): Promise<void>;
  patch(plural: WorkloadPlural, name: string, patch: object, subresource?: string): Promise<void>;
  remove(plural: WorkloadPlural, name: string): Promise<void>;
  /** Waits for as many pods of a reactor, and answers them. */
  pods(workload: ReactorWorkload, count: number): Promise<WorkloadObject[]>;
  /** Has a pod be as a kubelet would report it. */
  report(pod: WorkloadObject, status: object): Promise<void>;
  /** Has a pod answer at an address. */
  ready(pod: WorkloadObject, podIP: string): Promise<void>;
  /** What the operator asked the API server to change in this namespace. */
  writes(): Promise<AuditedRequest[]>;
  /** Once it asks for nothing more: how many of them there were. */
  settled(): Promise<number>;
  close(): Promise<void>;
}

export const REACTOR_IMAGE = 'registry.example/tokenkeep:1';
const OPERATOR = 'tokenkeep-system/tokenkeep-operator';
const WAIT = { deadlineMs: 30_000 };

export async function createReactorCluster(cluster: KubernetesCluster): Promise<ReactorCluster> {
  const namespace = await cluster.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  await letOperatorIn(cluster, namespace);
  const bench = await reactorClusterIn(cluster, namespace);
  return {
    ...bench,
    async close() {
      await bench.admin.remove({ group: '', version: 'v1', plural: 'namespaces', name: namespace });
      await bench.close();
    },
  };
}

/** As above, in a namespace that is there, and stays. */
export async function reactorClusterIn(cluster: KubernetesCluster, namespace: string): Promise<ReactorCluster> {
  const admin = clientOf(cluster.adminKubeconfig);
  const kubeconfig = await cluster.kubeconfigFor(OPERATOR);
  const told = new Map<string, RuntimeState>();
  const running: { runtime: ReactorRuntime; client: KubernetesClient; recorder: EventRecorder }[] = [];
  async function writes(): Promise<AuditedRequest[]> {
    const requests = await readAuditLog(cluster.auditLog);
    return requests.filter(
      (each) => each.user.endsWith(':tokenkeep-operator') && isIn(each, namespace) && isWrite(each),
    );
  }
  const at = (plural: WorkloadPlural, name?: string, subresource?: string) => {
    const [group, version] = PLURALS[plural].includes('/') ? PLURALS[plural].split('/') : ['', PLURALS[plural]];
    return {
      ...{ group: group!, version: version!, plural, namespace },
      ...(name === undefined ? {} : { name }),
      ...(subresource === undefined ? {} : { subresource }),
    };
  };

  const bench: ReactorCluster = {
    ...{ cluster, namespace, admin, told },
    start(options = {}) {
      const client = clientOf(kubeconfig);
      const recorder = createEventRecorder({ client, logger: silentLogger, instance: 'operator-of-the-test' });
      const runtime = createKubernetesRuntime({
        ...{ client, namespace, clock: systemTimers, logger: silentLogger, recorder },
        pods: { image: REACTOR_IMAGE, imagePullSecrets: [], host: '0.0.0.0' },
        // Its own: operators that share one would each put the certificates of their authority there.
        api: { namespace, labels: { 'app.kubernetes.io/name': 'tokenkeep' }, port: 8444 },
        ...options,
      });
      runtime.onChange((state) => told.set(`${state.tenantId}/${state.reactorId}`, state));
      runtime.start();
      running.push({ runtime, client, recorder });
      return runtime;
    },
    async list(plural) {
      return (await admin.listPage<WorkloadObject>(at(plural), {})).items;
    },
    async read(plural, name) {
      const object = await admin.read<WorkloadObject>(at(plural, name));
      if (object === undefined) throw new Error(`There is no ${name} among ${plural}`);
      return object;
    },
    create: async (plural, object) => void (await admin.create(at(plural), object)),
    patch: async (plural, name, patch, subresource) =>
      void (await admin.mergePatch(at(plural, name, subresource), patch)),
    remove: (plural, name) => admin.remove(at(plural, name)),
    async pods(workload, count) {
      const { 'tokenkeep.dev/revision': revision } = { 'tokenkeep.dev/revision': workload.revision };
      let found: WorkloadObject[] = [];
      await eventually(async () => {
        found = (await bench.list('pods')).filter(
          ({ metadata: { labels, name } }) =>
            labels['tokenkeep.dev/revision'] === revision && name.startsWith(workloadName(workload)),
        );
        if (found.length !== count) throw new Error(`${found.length} pods, not ${count}`);
      }, WAIT);
      return found;
    },
    report: (pod, status) => bench.patch('pods', pod.metadata.name, { status }, 'status'),
    ready: (pod, podIP) =>
      bench.report(pod, {
        ...{ phase: 'Running', podIP, podIPs: [{ ip: podIP }] },
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }],
      }),
    writes,
    async settled() {
      let count = -1;
      await eventually(
        async () => {
          const before = count;
          count = (await writes()).length;
          expect(count).to.equal(before);
        },
        { ...WAIT, everyMs: 1_000 },
      );
      return count;
    },
    async close() {
      for (const { runtime, client, recorder } of running) {
        await runtime.stop();
        await recorder.stop();
        client.close();
      }
      admin.close();
    },
  };
  return bench;
}

const isIn = (request: AuditedRequest, namespace: string): boolean => request.namespace === namespace;

/** Binds the chart's Role for the namespace of reactors in this one. */
async function letOperatorIn(cluster: KubernetesCluster, namespace: string): Promise<void> {
  const role = JSON.parse(
    await cluster.demand(['get', 'role', 'tokenkeep-operator-reactors', '-n', 'tokenkeep-system', '-o', 'json']),
  ) as { rules: object[] };
  const objects = [
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', rules: role.rules },
      metadata: { name: 'operator', namespace },
    },
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
      metadata: { name: 'operator', namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'operator' },
      subjects: [{ kind: 'ServiceAccount', name: 'tokenkeep-operator', namespace: 'tokenkeep-system' }],
    },
  ];
  for (const object of objects) await cluster.demand(['create', '-f', '-'], { input: JSON.stringify(object) });
}

let counter = 0;

/** A reactor that no other test has. */
export function workloadWith(change: Partial<ReactorWorkload> = {}): ReactorWorkload {
  counter += 1;
  const digits = String(counter).padStart(12, '0');
  return {
    tenantId: `5e9d2a64-0000-4000-8000-${digits}`,
    reactorId: `1c1f3b7e-0000-4000-8000-${digits}`,
    revision: 'a1b2c3d4e5f60718',
    name: 'score',
    code: 'module.exports = async () => ({ raw: 1 });',
    configuration: { KEY: 'k-1' },
    timeoutSeconds: 30,
    scaling: { minReplicas: 1, maxReplicas: 10, concurrency: 1, idleSeconds: 300 },
    memoryBytes: 256 * 1024 * 1024,
    ...change,
  };
}
