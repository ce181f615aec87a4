import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Component } from '../../support/kubernetes/component.ts';
import { DNS_ADDRESS, type Machine } from './machine.ts';

export const CLUSTER_DOMAIN = 'cluster.local';

/** CoreDNS, on the node itself as a cache of the node would be. It knows the cluster's names and refuses all others. */
export async function startDns(
  machine: Machine,
  options: { program: string; kubeconfig: string; folder: string },
): Promise<Component> {
  await mkdir(options.folder, { recursive: true });
  const corefile = join(options.folder, 'Corefile');
  await writeFile(
    corefile,
    `.:53 {
  bind ${DNS_ADDRESS}
  errors
  ready ${DNS_ADDRESS}:8181
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {
    kubeconfig ${options.kubeconfig}
    fallthrough in-addr.arpa ip6.arpa
  }
  cache 5
}
`,
  );
  const dns = machine.component('coredns', options.program, ['-conf', corefile]);
  dns.start();
  return dns;
}
