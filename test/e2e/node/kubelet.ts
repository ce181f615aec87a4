import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from '../../support/kubernetes/component.ts';
import { CONTAINERD_SOCKET } from './containerd.ts';
import { NODE_NAME } from './control-plane.ts';
import { CLUSTER_DOMAIN } from './dns.ts';
import { DNS_ADDRESS, MACHINE_ADDRESS, type Machine } from './machine.ts';

export interface KubeletOptions {
  readonly program: string;
  readonly kubeconfig: string;
  readonly folder: string;
}

export async function startKubelet(machine: Machine, options: KubeletOptions): Promise<Component> {
  const { program, kubeconfig, folder } = options;
  await mkdir(folder, { recursive: true });
  const resolver = join(folder, 'resolv.conf');
  await writeFile(resolver, `nameserver ${DNS_ADDRESS}\n`);
  const configuration = join(folder, 'config.json');
  await writeFile(
    configuration,
    JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
      // The API server asks it for logs. Nobody else is on this machine's network but its own pods.
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      cgroupDriver: 'cgroupfs',
      cgroupRoot: machine.cgroup,
      failCgroupV1: false,
      failSwapOn: false,
      oomScoreAdj: 0,
      // It would change them otherwise, for the real machine too.
      protectKernelDefaults: true,
      volumePluginDir: join(folder, 'volume-plugins'),
      clusterDNS: [DNS_ADDRESS],
      clusterDomain: CLUSTER_DOMAIN,
      resolvConf: resolver,
      // The disk of the real machine is not this one's to look after.
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
      imageGCHighThresholdPercent: 100,
    }),
  );
  const kubelet = machine.component('kubelet', program, [
    `--config=${configuration}`,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${NODE_NAME}`,
    `--node-ip=${MACHINE_ADDRESS}`,
    `--cert-dir=${join(folder, 'certificates')}`,
  ]);
  kubelet.start();
  return kubelet;
}
