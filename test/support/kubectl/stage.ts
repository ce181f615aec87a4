import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { eventually } from '../eventually.ts';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { startKubeletApi } from '../kubernetes/kubelet-api.ts';
import type { KubeletApi } from '../kubernetes/kubelet-api.ts';
import { clientOf } from '../operator/kubernetes-plane.ts';
import type { Ended } from '../program.ts';

export const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

export interface PodShape {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly container: string;
  readonly args?: readonly string[];
  readonly ports?: Readonly<Record<string, number>>;
  /** Further parts of the container. */
  readonly extra?: object;
}

/** What is declared, as the operator leaves it. */
export interface DeclaredShape {
  readonly kind: 'Application' | 'Reactor' | 'AccessRule';
  readonly name: string;
  readonly namespace: string;
  readonly metadata?: object;
  readonly spec: object;
  readonly status?: object;
}

/** A cluster with a node whose pods are this machine, for the plugin to look at. */
export interface KubectlStage {
  readonly cluster: KubernetesCluster;
  readonly admin: KubernetesClient;
  readonly kubelet: KubeletApi;
  /** A new namespace in which pods can be made. */
  namespace(): Promise<string>;
  /** Makes a pod that runs on the node, and is ready. */
  pod(shape: PodShape): Promise<void>;
  declare(shape: DeclaredShape): Promise<void>;
  secret(namespace: string, name: string, entries: Record<string, string>): Promise<void>;
  /** A kubeconfig of somebody who may do this in a namespace, and nothing else; each rule as `get,list pods/log`. */
  kubeconfigWith(namespace: string, ...rules: string[]): Promise<string>;
  /** Runs `kubectl tokenkeep`, by default as an administrator of the cluster. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  close(): Promise<void>;
}

export interface RunOptions {
  readonly kubeconfig?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const core = (plural: string, namespace?: string, name?: string, subresource?: string) => ({
  ...{ group: '', version: 'v1', plural },
  ...(namespace === undefined ? {} : { namespace }),
  ...(name === undefined ? {} : { name }),
  ...(subresource === undefined ? {} : { subresource }),
});

export async function createKubectlStage(cluster: KubernetesCluster): Promise<KubectlStage> {
  const admin = clientOf(cluster.adminKubeconfig);
  const kubelet = await startKubeletApi();
  const node = `node-${kubelet.port}`;
  const namespaces: string[] = [];
  await admin.create(core('nodes'), { apiVersion: 'v1', kind: 'Node', metadata: { name: node } });
  await admin.mergePatch(core('nodes', undefined, node, 'status'), {
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
    },
  });
  let people = 0;

  return {
    ...{ cluster, admin, kubelet },
    async namespace() {
      const name = await cluster.namespace();
      namespaces.push(name);
      // Without it, no pod is admitted.
      await eventually(async () => {
        if ((await admin.read(core('serviceaccounts', name, 'default'))) === undefined) throw new Error('not yet');
      });
      return name;
    },
    async pod({ name, namespace, labels, container, args = [], ports = {}, extra = {} }) {
      const named = Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort }));
      const image = 'registry.example/tokenkeep:1';
      await admin.create(core('pods', namespace), {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels } },
        spec: {
          ...{ nodeName: node, automountServiceAccountToken: false },
          containers: [{ name: container, image, args, ports: named, ...extra }],
        },
      });
      const now = new Date().toISOString().replace(/\.\d+/, '');
      await admin.mergePatch(core('pods', namespace, name, 'status'), {
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
          containerStatuses: [
            {
              name: container,
              image,
              imageID: '',
              ready: true,
              restartCount: 0,
              state: { running: { startedAt: now } },
            },
          ],
        },
      });
    },
    async declare({ kind, name, namespace, metadata = {}, spec, status }) {
      const plural = `${kind.toLowerCase()}s`;
      const at = { group: 'tokenkeep.dev', version: 'v1alpha1', plural, namespace };
      const object = { apiVersion: 'tokenkeep.dev/v1alpha1', kind, metadata: { name, ...metadata }, spec };
      await admin.create(at, object);
      if (status !== undefined) await admin.mergePatch({ ...at, name, subresource: 'status' }, { status });
    },
    async secret(namespace, name, stringData) {
      await admin.create(core('secrets', namespace), {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name },
        stringData,
      });
    },
    async kubeconfigWith(namespace, ...rules) {
      people += 1;
      const name = `person-${people}`;
      const kubeconfig = await cluster.kubeconfigFor(`${namespace}/${name}`);
      const access = { group: 'rbac.authorization.k8s.io', version: 'v1', namespace };
      await admin.create({ ...access, plural: 'roles' }, { metadata: { name }, rules: rules.map(ruleOf) });
      await admin.create(
        { ...access, plural: 'rolebindings' },
        {
          ...{ metadata: { name }, subjects: [{ kind: 'ServiceAccount', name, namespace }] },
          roleRef: { apiGroup: access.group, kind: 'Role', name },
        },
      );
      return kubeconfig;
    },
    run: (args, { kubeconfig = cluster.adminKubeconfig, input, env = {} } = {}) =>
      runPlugin(args, { KUBECONFIG: kubeconfig, ...env }, input),
    async close() {
      for (const namespace of namespaces) {
        // No node would ever say that they are gone.
        await cluster.kubectl(['delete', 'pods', '--all', '--force', '--grace-period=0', '-n', namespace]);
        await admin.remove(core('namespaces', undefined, namespace));
      }
      await admin.remove(core('nodes', undefined, node));
      await kubelet.close();
      admin.close();
    },
  };
}

/** The program in a process of its own, with no settings but these. */
export async function runPlugin(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input?: string,
): Promise<Ended> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'kubectl', ...args], { env });
  child.stdin.on('error', () => undefined).end(input ?? '');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

/** `get,list pods/log`: the group of a resource of ours is known. */
function ruleOf(rule: string): object {
  const [verbs = '', resources = ''] = rule.split(' ');
  const ours = /^(?:tenants|applications|accessrules|reactors)$/;
  const each = resources.split(',');
  return { apiGroups: [ours.test(each[0]!) ? 'tokenkeep.dev' : ''], resources: each, verbs: verbs.split(',') };
}
