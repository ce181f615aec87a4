import { setTimeout as delay } from 'node:timers/promises';
import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import type { Cluster } from './cluster.ts';
import { argumentOf, containerOf, findReadyPod, listPods } from './installation.ts';
import type { Pod } from './installation.ts';
import type { PluginOptions, Terminal } from './options.ts';
import { PluginError } from './plugin-error.ts';
import { followLogs } from './pod-logs.ts';
import { readResource } from './resources.ts';

/** Between two looks for instances that have started since. */
const LOOK_EVERY_MS = 2_000;

/** Writes what the instances of a reactor log, each line after the pod's name where there are several. */
export async function printReactorLogs(cluster: Cluster, options: PluginOptions, terminal: Terminal): Promise<number> {
  const [name = ''] = options.names;
  const { status } = await readResource(cluster, 'Reactor', name);
  if (status?.id === undefined) {
    throw new PluginError(`the Reactor ${name} is not in the API: \`kubectl tokenkeep status\` says why`);
  }
  const namespace = options.reactorNamespace ?? (await findReactorNamespace(cluster, options.systemNamespace));
  // The id alone is no name: two tenants may have a reactor under the same one.
  const labels = [`tokenkeep.dev/reactor-id=${status.id}`];
  if (status.tenantId !== undefined) labels.push(`tokenkeep.dev/tenant-id=${status.tenantId}`);
  const selector = labels.join(',');
  const find = (): Promise<Pod[]> => listPods(cluster, namespace, selector);

  const pods = await find();
  if (pods.length === 0) terminal.report(`No instance of ${name} runs in the namespace ${namespace}`);
  const isPrefixed = options.follow || pods.length > 1;
  const read: ReadLog = (pod, since) => {
    const prefix = isPrefixed ? `[${pod.metadata.name}] ` : '';
    return followLogs(cluster, pod, { ...options, since }, (line) => terminal.write(`${prefix}${line}`));
  };
  if (options.follow) await followAll(pods, find, read);
  else for (const pod of pods) await read(pod);
  return 0;
}

/** All of a log, or what was written to it after an instant. */
type ReadLog = (pod: Pod, since?: string) => Promise<void>;

/** Until a list or a log is refused; a log that ends with its pod is no reason. */
async function followAll(found: readonly Pod[], find: () => Promise<Pod[]>, read: ReadLog): Promise<never> {
  /** By the pod's name: when its log ended, undefined where it goes on. */
  const followed = new Map<string, string | undefined>();
  const { promise: refused, reject: refuse } = Promise.withResolvers<never>();
  for (let pods = found; ; pods = await find()) {
    for (const pod of pods.filter(hasStarted)) {
      const { name } = pod.metadata;
      const endedAt = followed.get(name);
      if (followed.has(name) && endedAt === undefined) continue;
      followed.set(name, undefined);
      // A log ends with its container, which may be started again, and where the API server has had enough.
      read(pod, endedAt).then(() => void followed.set(name, new Date().toISOString()), refuse);
    }
    await Promise.race([delay(LOOK_EVERY_MS), refused]);
  }
}

const hasStarted = ({ status }: Pod): boolean => status?.phase === 'Running';

async function findReactorNamespace(cluster: Cluster, systemNamespace: string): Promise<string> {
  try {
    const operator = await findReadyPod(cluster, systemNamespace, 'operator');
    return argumentOf(containerOf(operator, 'operator'), 'reactor-namespace') ?? systemNamespace;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 403) {
      throw new PluginError(`${error.detail ?? error.message}; give --reactor-namespace`);
    }
    throw error;
  }
}
