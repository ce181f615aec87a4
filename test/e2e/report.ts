import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubernetesNode } from './node/node.ts';

/** Secrets and what they hold are left out. */
const DESCRIBED = 'nodes,pods,deployments,replicasets,statefulsets,jobs,services,endpointslices,persistentvolumeclaims';

/** Writes what tells why a step failed: objects, events, logs of pods and of the node's own parts. */
export async function writeReport(folder: string, stateFolder: string, node?: KubernetesNode): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(join(stateFolder, 'logs'), join(folder, 'node'), { recursive: true }).catch(() => undefined);
  if (node === undefined) return;

  const ask = (...args: string[]) => node.kubectl(['--request-timeout=20s', ...args]);
  const write = async (file: string, ...args: string[]): Promise<void> => {
    const { stdout, stderr } = await ask(...args);
    await writeFile(join(folder, file), stdout + stderr);
  };
  await write('objects.txt', 'get', DESCRIBED, '--all-namespaces', '--output=wide');
  await write('describe.txt', 'describe', DESCRIBED, '--all-namespaces');
  await write('events.txt', 'get', 'events', '--all-namespaces', '--sort-by=.lastTimestamp', '--output=wide');
  await write('tokenkeep.yaml', 'get', 'tokenkeep', '--all-namespaces', '--output=yaml');

  const format = '--output=jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\\n"}{end}';
  const { stdout } = await ask('get', 'pods', '--all-namespaces', format);
  await mkdir(join(folder, 'pods'), { recursive: true });
  for (const line of stdout.split('\n').filter((text) => text !== '')) {
    const [namespace = '', pod = ''] = line.split(' ');
    const options = ['--namespace', namespace, '--all-containers', '--prefix', '--timestamps'];
    await write(`pods/${namespace}.${pod}.log`, 'logs', pod, ...options);
    const previous = await ask('logs', pod, '--previous', ...options);
    if (previous.stdout !== '') {
      await writeFile(join(folder, `pods/${namespace}.${pod}.previous.log`), previous.stdout);
    }
  }
}
