import type { Component } from '../../support/kubernetes/component.ts';
import { NODE_NAME, SERVICE_NETWORK } from './control-plane.ts';
import type { Machine } from './machine.ts';

/**
 * What has network policies hold. It is told of pods as they come, and reads its own node, which takes the
 * administrator's rights here. The node must be there.
 */
export function startNetworkPolicies(machine: Machine, program: string, kubeconfig: string): Component {
  const controller = machine.component('kube-router', program, [
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${NODE_NAME}`,
    `--service-cluster-ip-range=${SERVICE_NETWORK}`,
  ]);
  controller.start();
  return controller;
}
