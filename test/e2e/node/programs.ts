import { installGoProgram, type GoProgram } from '../../support/go-program.ts';
import { installKubernetes, partOfKubernetes, type KubernetesPrograms } from '../../support/kubernetes/programs.ts';

const COREDNS: GoProgram = {
  name: 'coredns',
  module: new URL('../../../config/coredns/', import.meta.url),
  package: '.',
  sources: ['main.go'],
  takes: 'about 3 minutes',
};

const KUBE_ROUTER: GoProgram = {
  name: 'kube-router',
  module: new URL('../../../config/kube-router/', import.meta.url),
  package: '.',
  sources: ['main.go'],
  takes: 'about 2 minutes',
};

/** Paths of what a node and its control plane are made of, and that Debian does not have. */
export interface NodePrograms extends KubernetesPrograms {
  readonly scheduler: string;
  readonly kubelet: string;
  readonly kubeProxy: string;
  readonly dns: string;
  readonly networkPolicies: string;
}

/** Builds what this machine does not have yet. */
export async function installNodePrograms(): Promise<NodePrograms> {
  return {
    ...(await installKubernetes()),
    scheduler: await installGoProgram(partOfKubernetes('kube-scheduler', 'about 1 minute')),
    kubelet: await installGoProgram(partOfKubernetes('kubelet', 'about 2 minutes')),
    kubeProxy: await installGoProgram(partOfKubernetes('kube-proxy', 'about 1 minute')),
    dns: await installGoProgram(COREDNS),
    networkPolicies: await installGoProgram(KUBE_ROUTER),
  };
}
