import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createKubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import { loadKubeConfig } from '../../../src/platform/kubernetes/kube-config.ts';
import { renderPath } from '../../../src/platform/kubernetes/paths.ts';
import { createRequests } from '../../../src/platform/kubernetes/requests.ts';
import type { KubernetesCluster } from './control-plane.ts';
import { KubeletPod } from './kubelet-pod.ts';
import type { PodObject, SecretObject } from './kubelet-pod.ts';

/**
 * A node of a real cluster, whose pods are processes of this machine: it takes every pod of a namespace that matches,
 * since there is no scheduler, and lets it live as a kubelet does.
 */
export interface TestKubelet {
  readonly pods: readonly KubeletPod[];
  /** Whether images can be had. */
  hasImages: boolean;
  /** Ends what runs, and takes the node away. */
  close(): Promise<void>;
}

export interface TestKubeletOptions {
  readonly namespace: string;
  readonly labelSelector: string;
}

const LOOK_EVERY_MS = 100;
const SECRETS_EVERY_MS = 500;
/** Where the pod says nothing. */
const GRACE_S = 30;

export async function startTestKubelet(
  cluster: KubernetesCluster,
  { namespace, labelSelector }: TestKubeletOptions,
): Promise<TestKubelet> {
  const kubeConfig = loadKubeConfig({ kubeconfig: cluster.adminKubeconfig });
  const client = createKubernetesClient({ kubeConfig, fieldManager: 'kubelet' });
  const requests = createRequests({ kubeConfig });
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-kubelet-'));
  const core = (plural: string, name?: string, subresource?: string) => ({
    ...{ group: '', version: 'v1', plural, ...(plural === 'nodes' ? {} : { namespace }) },
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  });
  const network = `127.${randomInt(64, 250)}`;
  const node = `node-${network.replaceAll('.', '-')}-${namespace}`;
  const pods = new Map<string, KubeletPod>();
  const leaving = new Set<Promise<void>>();
  let secrets: { at: number; byName: Map<string, SecretObject> } | undefined;
  let lastIp = 1;
  let closing = false;

  async function secret(name: string): Promise<SecretObject | undefined> {
    if (secrets === undefined || performance.now() - secrets.at > SECRETS_EVERY_MS || !secrets.byName.has(name)) {
      const { items } = await client.listPage<SecretObject>(core('secrets'), {});
      secrets = { at: performance.now(), byName: new Map(items.map((item) => [item.metadata.name, item])) };
    }
    return secrets.byName.get(name);
  }

  async function take(pod: PodObject): Promise<void> {
    const { name, uid } = pod.metadata;
    if (pod.spec.nodeName === undefined) {
      const target = { apiVersion: 'v1', kind: 'Node', name: node };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target };
      await client.create(core('pods', name, 'binding'), binding);
    }
    lastIp += 1;
    const life = new KubeletPod(pod, {
      folder: await mkdtemp(join(folder, `${name}-`)),
      ip: `${network}.${lastIp >> 8}.${lastIp & 255}`,
      // Of a pod that was taken away by force, nobody asks any more.
      report: (status) =>
        client.mergePatch(core('pods', name, 'status'), { metadata: { uid }, status }).then(nothing, nothing),
      secret,
      hasImages: () => kubelet.hasImages,
    });
    pods.set(uid, life);
    leaving.add(
      life.ended.then(async () => {
        pods.delete(uid);
        const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: { uid } };
        const path = renderPath(core('pods', name));
        await requests.whole({ method: 'DELETE', path, body, type: 'application/json' }).then(nothing, nothing);
      }),
    );
  }

  async function look(): Promise<void> {
    const { items } = await client.listPage<PodObject>(core('pods'), { labelSelector });
    const there = new Set(items.map(({ metadata }) => metadata.uid));
    for (const pod of items) {
      const { uid, deletionTimestamp, deletionGracePeriodSeconds = GRACE_S } = pod.metadata;
      if (deletionTimestamp !== undefined) pods.get(uid)?.terminate(deletionGracePeriodSeconds * 1000);
      else if (!pods.has(uid)) await take(pod);
    }
    for (const [uid, life] of pods) if (!there.has(uid)) life.terminate(0);
  }

  const kubelet = {
    hasImages: true,
    get pods() {
      return [...pods.values()];
    },
    async close() {
      closing = true;
      await watching;
      for (const life of pods.values()) life.terminate(0);
      await Promise.all(leaving);
      await client.remove(core('nodes', node));
      requests.close();
      client.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await client.create(core('nodes'), { apiVersion: 'v1', kind: 'Node', metadata: { name: node } });
  const watching = (async () => {
    while (!closing) {
      await look().catch(nothing);
      await delay(LOOK_EVERY_MS);
    }
  })();
  return kubelet;
}

const nothing = (): void => undefined;
