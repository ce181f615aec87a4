import type { Component } from '../../support/kubernetes/component.ts';
import { NODE_NAME } from './control-plane.ts';
import { POD_NETWORK, type Machine } from './machine.ts';

/** What makes the addresses of Services lead to pods. */
export function startKubeProxy(machine: Machine, program: string, kubeconfig: string): Component {
  const proxy = machine.component('kube-proxy', program, [
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${NODE_NAME}`,
    `--cluster-cidr=${POD_NETWORK}`,
    '--proxy-mode=iptables',
    // Left as they are: they belong to the real machine.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0',
    '--conntrack-tcp-timeout-close-wait=0',
  ]);
  proxy.start();
  return proxy;
}
