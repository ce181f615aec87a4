import { runInPod } from '../../platform/kubernetes/pod-exec.ts';
import type { Cluster } from './cluster.ts';
import { containerOf, findReadyPod } from './installation.ts';
import type { Container } from './installation.ts';
import { createLines } from './lines.ts';
import type { PluginOptions, Terminal } from './options.ts';
import { withConnection } from './permissions.ts';

/** Where the API finds the database and the keys. The environment says the rest, which a command in the pod inherits. */
const PLACES = /^--(?:(?:maintenance-)?database-url(?:-file)?|(?:vault|transit)-[a-z-]+)(?:=|$)/;
const KEYRING = '--keyring-dir=';

/**
 * Runs the command of the same name in a pod of the API: the database and the keys are within reach of the cluster
 * alone. Resolves to its exit code.
 */
export async function runInApiPod(cluster: Cluster, options: PluginOptions, terminal: Terminal): Promise<number> {
  const { systemNamespace: namespace, command, passed } = options;
  const pod = await findReadyPod(cluster, namespace, 'api');
  const program = ['tokenkeep', ...command.split(' '), ...placesOf(containerOf(pod, 'api')), ...passed];
  const at = { namespace, pod: pod.metadata.name, container: 'api', command: program };
  const stdout = createLines(terminal.write);
  const stderr = createLines(terminal.report);
  const code = await withConnection(cluster, { namespace, subresource: 'exec' }, () =>
    runInPod(cluster.kubeConfig, at, { stdout: stdout.take, stderr: stderr.take }),
  );
  stdout.end();
  stderr.end();
  return code;
}

/** As commands know it: what is called a keyring's folder there is a folder of data here. */
export function placesOf({ args = [] }: Pick<Container, 'args'>): string[] {
  return args
    .filter((argument) => PLACES.test(argument) || argument.startsWith(KEYRING))
    .map((argument) => argument.replace(KEYRING, '--data-dir='));
}
