import type { Cluster } from './cluster.ts';
import { PluginError } from './plugin-error.ts';

/** As much of a pod as this program looks at. */
export interface Pod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Record<string, string> };
  readonly spec: { readonly containers: readonly Container[] };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

export type Component = 'api' | 'operator';

const PODS = { group: '', version: 'v1', plural: 'pods' };

export const componentSelector = (component: Component): string =>
  `app.kubernetes.io/name=tokenkeep,app.kubernetes.io/component=${component}`;

export async function listPods({ client }: Cluster, namespace: string, labelSelector: string): Promise<Pod[]> {
  return (await client.listPage<Pod>({ ...PODS, namespace }, { labelSelector })).items;
}

/** A pod of a component that answers. */
export async function findReadyPod(cluster: Cluster, namespace: string, component: Component): Promise<Pod> {
  const pods = await listPods(cluster, namespace, componentSelector(component));
  const ready = pods.find(isReady);
  if (ready !== undefined) return ready;
  const found = pods.length === 0 ? `there is no pod of the ${component}` : `no pod of the ${component} is ready`;
  throw new PluginError(`${found} in the namespace ${namespace}; --system-namespace names another one`);
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

export function containerOf(pod: Pod, component: Component): Container {
  const found = pod.spec.containers.find(({ name }) => name === component);
  if (found === undefined) throw new PluginError(`pod ${pod.metadata.name} has no container ${component}`);
  return found;
}

/** The container's port of this name. */
export function portOf({ ports = [], name }: Container, port: string): number {
  const found = ports.find((each) => each.name === port);
  if (found === undefined) throw new PluginError(`the container ${name} has no port ${port}`);
  return found.containerPort;
}

/** What a flag of the container's program says. */
export function argumentOf({ args = [] }: Container, flag: string): string | undefined {
  return args.find((each) => each.startsWith(`--${flag}=`))?.slice(flag.length + 3);
}
