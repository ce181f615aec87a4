import { STATUS_CODES } from 'node:http';
import type { Agent } from 'node:http';
import { exchange, ExchangeError } from '../../platform/http-exchange.ts';
import type { ExchangeAnswer } from '../../platform/http-exchange.ts';
import { createPodAgent } from '../../platform/kubernetes/pod-connections.ts';
import { findApiKey } from './api-key.ts';
import type { Cluster } from './cluster.ts';
import { argumentOf, containerOf, findReadyPod, portOf } from './installation.ts';
import type { PluginOptions } from './options.ts';
import { withConnection } from './permissions.ts';
import { PluginError } from './plugin-error.ts';

/** Longer than the API itself lets a request take. */
const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;
const PREFIX = 'SVC';

interface Way {
  readonly baseUrl: string;
  readonly headerPrefix: string;
  readonly agent?: Agent;
}

/** POSTs a document to the API, at `--url` or through one of its pods. Resolves with whatever it answers. */
export async function callApi(
  cluster: Cluster,
  options: PluginOptions,
  path: string,
  body: unknown,
): Promise<ExchangeAnswer> {
  const key = await findApiKey(cluster, options);
  const { baseUrl, headerPrefix, agent } = await findWay(cluster, options);
  const request = {
    ...{ method: 'POST', url: `${baseUrl}${path}`, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES },
    headers: { 'content-type': 'application/json', accept: 'application/json', [`${headerPrefix}-API-KEY`]: key },
    body: JSON.stringify(body),
    ...(agent === undefined ? {} : { agent }),
  };
  if (agent === undefined) return exchange(request).catch((error: unknown) => fail(error, baseUrl));
  return withConnection(cluster, { namespace: options.systemNamespace, subresource: 'portforward' }, () =>
    exchange(request),
  ).catch((error: unknown) => fail(error, 'its pod'));
}

/** As above, for what must succeed: anything but 2xx is a PluginError. */
export async function demandApi(
  cluster: Cluster,
  options: PluginOptions,
  path: string,
  body: unknown,
): Promise<unknown> {
  const answer = await callApi(cluster, options, path, body);
  if (answer.status < 200 || answer.status >= 300) throw new PluginError(problemOf(answer));
  return JSON.parse(answer.body) as unknown;
}

/** What the API says of a refusal. Its problems quote nothing of what they refuse. */
export function problemOf({ status, body }: ExchangeAnswer): string {
  const title = `the API answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  try {
    const { detail, errors } = JSON.parse(body) as { detail?: unknown; errors?: unknown };
    const faults = Object.entries((errors ?? {}) as Record<string, unknown>);
    const lines = faults.map(([field, messages]) => `\n  ${field}: ${[messages].flat().join('; ')}`);
    return [title, ...(typeof detail === 'string' ? [`: ${detail}`] : []), ...lines].join('');
  } catch {
    return title;
  }
}

async function findWay(cluster: Cluster, { url, systemNamespace }: PluginOptions): Promise<Way> {
  if (url !== undefined) return { baseUrl: url, headerPrefix: PREFIX };
  const pod = await findReadyPod(cluster, systemNamespace, 'api');
  const container = containerOf(pod, 'api');
  const at = { namespace: systemNamespace, pod: pod.metadata.name, port: portOf(container, 'http') };
  return {
    // Only the path counts: the agent knows where to.
    baseUrl: 'http://tokenkeep',
    headerPrefix: argumentOf(container, 'header-prefixes')?.split(',')[0] ?? PREFIX,
    agent: createPodAgent(cluster.kubeConfig, at),
  };
}

function fail(error: unknown, where: string): never {
  if (!(error instanceof ExchangeError)) throw error;
  throw new PluginError(`the API at ${where} ${error.timedOut ? 'did not answer in time' : 'does not answer'}`);
}
