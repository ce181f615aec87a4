import { exchange, ExchangeError } from '../../../platform/http-exchange.ts';
import { KubernetesError } from '../../../platform/kubernetes/errors.ts';
import type { ResourcePath } from '../../../platform/kubernetes/paths.ts';
import { createPodAgent } from '../../../platform/kubernetes/pod-connections.ts';
import type { Cluster } from '../cluster.ts';
import { argumentOf, componentSelector, containerOf, isReady, listPods, portOf } from '../installation.ts';
import type { Component, Pod } from '../installation.ts';
import type { PluginOptions } from '../options.ts';
import { withConnection } from '../permissions.ts';
import { PluginError } from '../plugin-error.ts';
import { followLogs } from '../pod-logs.ts';
import { KINDS, resourcePath } from '../resources.ts';

/** What was found, with all its secrets: to be redacted before anything else is done with it. */
export interface Gathered {
  readonly objects: Map<string, readonly unknown[]>;
  readonly logs: Map<string, string>;
  readonly metrics: Map<string, string>;
  /** What could not be had, and why. */
  readonly missing: { readonly what: string; readonly why: string }[];
}

const LOG_LINES = 5_000;
const LOG_BYTES = 2 * 1024 * 1024;
const METRICS = { timeoutMs: 10_000, maxBytes: 16 * 1024 * 1024 };
const COMPONENTS: readonly Component[] = ['api', 'operator'];

/** Gathers all that the person who asks may see, and notes what is missing. Secrets and ConfigMaps are never read. */
export async function gather(cluster: Cluster, options: PluginOptions): Promise<Gathered> {
  const gathered: Gathered = { objects: new Map(), logs: new Map(), metrics: new Map(), missing: [] };
  const { objects, missing } = gathered;
  const part = async (what: string, find: () => Promise<void>): Promise<void> => {
    try {
      await find();
    } catch (error) {
      const why = whyMissing(error);
      if (why === undefined) throw error;
      missing.push({ what, why });
    }
  };
  const list = (name: string, at: ResourcePath): Promise<void> =>
    part(name, async () => void objects.set(name, (await cluster.client.listPage(at, {})).items));

  const { allNamespaces, systemNamespace } = options;
  await part('version', async () => {
    objects.set('version', [await cluster.requests.whole({ method: 'GET', path: '/version' })]);
  });
  for (const kind of KINDS) {
    await list(`resources/${kind.plural}`, resourcePath(kind, allNamespaces ? undefined : cluster.namespace));
  }
  const pods = new Map<Component, Pod[]>();
  for (const component of COMPONENTS) {
    await part(`pods of the ${component}`, async () => {
      pods.set(component, await listPods(cluster, systemNamespace, componentSelector(component)));
    });
  }
  const [operator] = pods.get('operator') ?? [];
  const reactorNamespace =
    operator === undefined ? undefined : argumentOf(containerOf(operator, 'operator'), 'reactor-namespace');
  const namespaces = new Set([systemNamespace, reactorNamespace ?? systemNamespace]);
  for (const namespace of namespaces) {
    await list(`${namespace}/deployments`, { group: 'apps', version: 'v1', plural: 'deployments', namespace });
    await list(`${namespace}/pods`, { group: '', version: 'v1', plural: 'pods', namespace });
  }
  for (const namespace of new Set([...namespaces, ...(allNamespaces ? [] : [cluster.namespace])])) {
    await list(`${namespace}/events`, { group: '', version: 'v1', plural: 'events', namespace });
  }
  for (const component of COMPONENTS) {
    for (const pod of pods.get(component) ?? []) {
      await part(`log of ${pod.metadata.name}`, () => readLogs(cluster, pod, gathered.logs));
      await part(`metrics of ${pod.metadata.name}`, () => readMetrics(cluster, pod, component, gathered.metrics));
    }
  }
  return gathered;
}

async function readLogs(cluster: Cluster, pod: Pod, logs: Gathered['logs']): Promise<void> {
  const { name } = pod.metadata;
  for (const previous of [false, true]) {
    const lines: string[] = [];
    const selection = { follow: false, tailLines: LOG_LINES, limitBytes: LOG_BYTES, previous };
    await followLogs(cluster, pod, selection, (line) => lines.push(`${line}\n`));
    if (!previous || lines.length > 0) logs.set(previous ? `${name}.previous` : name, lines.join(''));
  }
}

async function readMetrics(
  cluster: Cluster,
  pod: Pod,
  component: Component,
  metrics: Gathered['metrics'],
): Promise<void> {
  if (!isReady(pod)) throw new PluginError('the pod is not ready');
  const { name, namespace } = pod.metadata;
  const at = { namespace, pod: name, port: portOf(containerOf(pod, component), 'metrics') };
  const agent = createPodAgent(cluster.kubeConfig, at);
  const request = { method: 'GET', url: 'http://tokenkeep/metrics', headers: {}, ...METRICS, agent };
  const { body } = await withConnection(cluster, { namespace, subresource: 'portforward' }, () => exchange(request));
  metrics.set(name, body);
}

function whyMissing(error: unknown): string | undefined {
  if (error instanceof PluginError) return error.message;
  if (error instanceof ExchangeError) return 'no answer';
  if (!(error instanceof KubernetesError) || error.status === undefined || error.status === 401) return undefined;
  return error.detail ?? error.message;
}
