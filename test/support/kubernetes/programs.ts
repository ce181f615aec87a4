import type { Context } from 'mocha';
import { installGoProgram, requireGoPrograms, type GoProgram } from '../go-program.ts';

const KUBERNETES = new URL('../../../config/kubernetes/', import.meta.url);
/** As config/kubernetes/go.mod requires: a binary that does not know its version serves as `v0.0.0`. */
const VERSION = { gitVersion: 'v1.34.4', gitMajor: '1', gitMinor: '34' };

/** A program of the one version of Kubernetes that the tests use. */
export function partOfKubernetes(name: string, takes: string): GoProgram {
  return {
    name,
    module: KUBERNETES,
    package: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: Object.entries(VERSION)
      .map(([variable, value]) => `-X k8s.io/component-base/version.${variable}=${value}`)
      .join(' '),
    takes,
  };
}

const PROGRAMS: readonly GoProgram[] = [
  {
    name: 'etcd',
    module: new URL('../../../config/etcd/', import.meta.url),
    package: 'go.etcd.io/etcd/server/v3',
    takes: 'about 1 minute',
  },
  partOfKubernetes('kube-apiserver', 'about 6 minutes'),
  partOfKubernetes('kube-controller-manager', 'about 2 minutes'),
  partOfKubernetes('kubectl', 'about 1 minute'),
];

/** Paths of what a control plane is made of, and of its client. */
export interface KubernetesPrograms {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly kubectl: string;
}

/** Builds them without starting any: what takes long, and needs the network, once for a machine. */
export async function installKubernetes(): Promise<KubernetesPrograms> {
  const paths: string[] = [];
  for (const program of PROGRAMS) paths.push(await installGoProgram(program));
  return named(paths);
}

/** Skips the tests where they cannot be had; in CI, fails them. To be called in a `before` hook. */
export async function requireKubernetesPrograms(context: Context): Promise<KubernetesPrograms> {
  return named(await requireGoPrograms(context, PROGRAMS));
}

function named([etcd, apiServer, controllerManager, kubectl]: readonly string[]): KubernetesPrograms {
  return { etcd: etcd!, apiServer: apiServer!, controllerManager: controllerManager!, kubectl: kubectl! };
}
