import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { startContainerd, importImage } from './containerd.ts';
import { NODE_NAME, startControlPlane } from './control-plane.ts';
import { startDns } from './dns.ts';
import { startKubeProxy } from './kube-proxy.ts';
import { startKubelet } from './kubelet.ts';
import { startNetworkPolicies } from './network-policies.ts';
import { startMachine, type CommandResult, type Machine, type RunOptions } from './machine.ts';
import type { NodePrograms } from './programs.ts';

const READY_DEADLINE_MS = 60_000;

/** A cluster of one real node: pods run, Services have addresses and names, nothing reaches beyond. */
export interface KubernetesNode {
  readonly machine: Machine;
  /** Path; a member of `system:masters`. */
  readonly adminKubeconfig: string;
  readonly programs: NodePrograms;
  /** As the administrator; never rejects for a code other than 0. */
  kubectl(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** As kubectl, for what must succeed; resolves with its output. */
  demand(args: readonly string[], options?: RunOptions): Promise<string>;
  /** An archive of images that pods may then name. */
  importImage(archive: string): Promise<void>;
  stop(): Promise<void>;
}

export interface NodeOptions {
  /** Empty, on a file system that overlays may lie on. Its name is that of the node's cgroup. */
  readonly folder: string;
  readonly programs: NodePrograms;
  readonly pauseImage: { readonly name: string; readonly archive: string };
}

/** Resolves once the node is Ready. */
export async function startNode({ folder, programs, pauseImage }: NodeOptions): Promise<KubernetesNode> {
  const machine = await startMachine(folder);
  try {
    // Beside each other: neither needs the other before the kubelet does.
    const [{ kubeconfigs, components }, containerd] = await Promise.all([
      startControlPlane(machine, programs, join(folder, 'control-plane')),
      startContainerd(machine, join(folder, 'containerd'), pauseImage.name),
    ]);
    await importImage(machine, pauseImage.archive);
    const rest = [
      startKubeProxy(machine, programs.kubeProxy, kubeconfigs.kubeProxy),
      await startDns(machine, { program: programs.dns, kubeconfig: kubeconfigs.admin, folder: join(folder, 'dns') }),
      await startKubelet(machine, {
        ...{ program: programs.kubelet, kubeconfig: kubeconfigs.kubelet, folder: join(folder, 'kubelet-settings') },
      }),
    ];

    function kubectl(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
      // Where it keeps what it has found out about the server.
      const env = { HOME: folder, ...options.env };
      return machine.run(programs.kubectl, [`--kubeconfig=${kubeconfigs.admin}`, ...args], { ...options, env });
    }

    async function demand(args: readonly string[], options?: RunOptions): Promise<string> {
      const { code, stdout, stderr } = await kubectl(args, options);
      if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
      return stdout;
    }

    const isEnforcing = async (): Promise<void> => {
      for (const component of rest) await component.assertRunning();
      const { code } = await machine.run('iptables', ['--list', 'KUBE-ROUTER-FORWARD']);
      if (code !== 0) throw new Error('network policies are not enforced yet');
    };
    const isReady = async (): Promise<void> => {
      for (const component of [...components, containerd, ...rest]) await component.assertRunning();
      await demand(['wait', '--for=condition=Ready', '--timeout=1s', `node/${NODE_NAME}`]);
      // Pods need it, and are refused without.
      await demand(['get', 'serviceaccount', 'default']);
    };
    await eventually(isReady, { deadlineMs: READY_DEADLINE_MS, everyMs: 200 });
    // It asks for the node once, when it starts.
    rest.push(startNetworkPolicies(machine, programs.networkPolicies, kubeconfigs.admin));
    await eventually(isEnforcing, { deadlineMs: READY_DEADLINE_MS, everyMs: 200 });

    return {
      machine,
      adminKubeconfig: kubeconfigs.admin,
      programs,
      kubectl,
      demand,
      importImage: (archive) => importImage(machine, archive),
      stop: () => machine.stop(),
    };
  } catch (error) {
    await machine.stop();
    throw error;
  }
}
