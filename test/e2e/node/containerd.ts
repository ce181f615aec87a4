import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import type { Component } from '../../support/kubernetes/component.ts';
import { POD_NETWORK, type Machine } from './machine.ts';

/** In the machine, whose /run is its own. */
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';

const START_DEADLINE_MS = 20_000;

const NETWORK = {
  // containerd 1.6 of Debian 12 knows no later one.
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: POD_NETWORK, rangeStart: '10.88.1.1' }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};

/** `pauseImage` is what holds the namespaces of a pod; it must have been imported before the first pod starts. */
export async function startContainerd(machine: Machine, folder: string, pauseImage: string): Promise<Component> {
  const networks = join(folder, 'networks');
  await mkdir(networks, { recursive: true });
  await writeFile(join(networks, '10-pods.conflist'), JSON.stringify(NETWORK));
  const configuration = join(folder, 'config.toml');
  await writeFile(
    configuration,
    `version = 2
root = "${join(folder, 'root')}"
state = "/run/containerd"
[grpc]
  address = "${CONTAINERD_SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${join(folder, 'opt')}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Lowering the score of a process takes CAP_SYS_RESOURCE, which root of a container may lack.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${networks}"
`,
  );
  const containerd = machine.component('containerd', 'containerd', ['--config', configuration]);
  containerd.start();
  const isReady = async (): Promise<void> => {
    await containerd.assertRunning();
    const { code, stderr } = await ctr(machine, ['version']);
    if (code !== 0) throw new Error(`containerd is not ready: ${stderr.trim()}`);
  };
  await eventually(isReady, { deadlineMs: START_DEADLINE_MS, everyMs: 100 });
  return containerd;
}

/** Makes the images of an archive (`docker-archive` or `oci-archive`) known to the kubelet. */
export async function importImage(machine: Machine, archive: string): Promise<void> {
  const { code, stderr } = await ctr(machine, ['--namespace', 'k8s.io', 'images', 'import', archive]);
  if (code !== 0) throw new Error(`${archive} cannot be imported: ${stderr.trim()}`);
}

function ctr(machine: Machine, args: readonly string[]) {
  return machine.run('ctr', ['--address', CONTAINERD_SOCKET, ...args]);
}
