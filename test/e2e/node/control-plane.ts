import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import type { Component } from '../../support/kubernetes/component.ts';
import { createCredentials, writeKubeconfig } from '../../support/kubernetes/credentials.ts';
import { MACHINE_ADDRESS, type Machine } from './machine.ts';
import type { NodePrograms } from './programs.ts';

const API_PORT = 6443;
const STORE = 'http://127.0.0.1:2379';
const PEER = 'http://127.0.0.1:2380';
const START_DEADLINE_MS = 60_000;

export const SERVICE_NETWORK = '10.96.0.0/16';
export const NODE_NAME = 'node';

/** Those who call the API server, each with the rights that Kubernetes itself gives to one of that name. */
const CALLERS = {
  controllerManager: ['system:kube-controller-manager', ''],
  scheduler: ['system:kube-scheduler', ''],
  kubeProxy: ['system:kube-proxy', ''],
  kubelet: [`system:node:${NODE_NAME}`, 'system:nodes'],
} as const;

export interface ControlPlane {
  /** Paths of kubeconfigs. `admin` is a member of `system:masters`. */
  readonly kubeconfigs: Readonly<Record<keyof typeof CALLERS | 'admin', string>>;
  readonly components: readonly Component[];
}

/** etcd, kube-apiserver, kube-controller-manager with all of its controllers, and kube-scheduler. */
export async function startControlPlane(
  machine: Machine,
  programs: NodePrograms,
  folder: string,
): Promise<ControlPlane> {
  await mkdir(folder, { recursive: true });
  const inFolder = (name: string): string => join(folder, name);
  const server = `https://${MACHINE_ADDRESS}:${API_PORT}`;
  const caFile = inFolder('certificates/apiserver.crt');
  const { adminToken, signingKeyFile } = await createCredentials(folder);

  const kubeconfigs: Record<string, string> = { admin: inFolder('admin.kubeconfig') };
  await writeKubeconfig(inFolder('admin.kubeconfig'), { server, caFile, token: adminToken });
  const tokens = [`${adminToken},admin,admin,"system:masters"`];
  for (const [caller, [user, groups]] of Object.entries(CALLERS)) {
    const token = randomBytes(16).toString('hex');
    tokens.push(`${token},${user},${user},"${groups}"`);
    kubeconfigs[caller] = inFolder(`${caller}.kubeconfig`);
    await writeKubeconfig(kubeconfigs[caller], { server, caFile, token });
  }
  await writeFile(inFolder('callers.csv'), `${tokens.join('\n')}\n`, { mode: 0o600 });

  const etcd = machine.component('etcd', programs.etcd, [
    `--data-dir=${inFolder('etcd')}`,
    `--listen-client-urls=${STORE}`,
    `--advertise-client-urls=${STORE}`,
    `--listen-peer-urls=${PEER}`,
    `--initial-advertise-peer-urls=${PEER}`,
    `--initial-cluster=default=${PEER}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ]);
  const apiServer = machine.component('kube-apiserver', programs.apiServer, [
    `--etcd-servers=${STORE}`,
    `--advertise-address=${MACHINE_ADDRESS}`,
    `--secure-port=${API_PORT}`,
    // Without files of its own, it makes itself a certificate there, with the authority's beside.
    `--cert-dir=${inFolder('certificates')}`,
    `--token-auth-file=${inFolder('callers.csv')}`,
    `--service-account-key-file=${signingKeyFile}`,
    `--service-account-signing-key-file=${signingKeyFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-cluster-ip-range=${SERVICE_NETWORK}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    // Nothing here resolves the node's name.
    '--kubelet-preferred-address-types=InternalIP',
  ]);
  const controllerManager = machine.component('kube-controller-manager', programs.controllerManager, [
    `--kubeconfig=${kubeconfigs['controllerManager']}`,
    `--service-account-private-key-file=${signingKeyFile}`,
    `--root-ca-file=${caFile}`,
    '--use-service-account-credentials',
    `--flex-volume-plugin-dir=${inFolder('volume-plugins')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ]);
  const scheduler = machine.component('kube-scheduler', programs.scheduler, [
    `--kubeconfig=${kubeconfigs['scheduler']}`,
    '--leader-elect=false',
    '--secure-port=0',
  ]);

  etcd.start();
  apiServer.start();
  const isReady = async (): Promise<void> => {
    await etcd.assertRunning();
    await apiServer.assertRunning();
    const { code, stderr } = await machine.run(programs.kubectl, [
      ...['--kubeconfig', kubeconfigs['admin']!, '--request-timeout=5s', 'get', '--raw', '/readyz'],
    ]);
    if (code !== 0) throw new Error(`kube-apiserver is not ready: ${stderr.trim()}`);
  };
  await eventually(isReady, { deadlineMs: START_DEADLINE_MS, everyMs: 200 });
  controllerManager.start();
  scheduler.start();
  return {
    kubeconfigs: kubeconfigs as Record<keyof typeof CALLERS | 'admin', string>,
    components: [etcd, apiServer, controllerManager, scheduler],
  };
}
