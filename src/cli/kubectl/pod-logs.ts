import { KubernetesError } from '../../platform/kubernetes/errors.ts';
import { renderPath } from '../../platform/kubernetes/paths.ts';
import type { Cluster } from './cluster.ts';
import type { Pod } from './installation.ts';
import { createLines } from './lines.ts';

export interface LogSelection {
  readonly follow: boolean;
  readonly tailLines?: number | undefined;
  readonly limitBytes?: number;
  /** ISO 8601. */
  readonly since?: string | undefined;
  /** Of the container that ran before this one. */
  readonly previous?: boolean;
}

/** Beside them, a mesh may have put containers of its own. */
const OURS = ['api', 'operator', 'reactor'];

/** Hands each line of a pod's log to `take`, until the log ends. A pod that is gone by now has none. */
export async function followLogs(
  { requests }: Cluster,
  { metadata, spec }: Pod,
  { follow, tailLines, limitBytes, since, previous }: LogSelection,
  take: (line: string) => void,
): Promise<void> {
  const at = { group: '', version: 'v1', plural: 'pods', namespace: metadata.namespace, name: metadata.name };
  const container = spec.containers.find(({ name }) => OURS.includes(name)) ?? spec.containers[0];
  const query = new URLSearchParams({ container: container?.name ?? '', follow: String(follow) });
  if (tailLines !== undefined) query.set('tailLines', String(tailLines));
  if (limitBytes !== undefined) query.set('limitBytes', String(limitBytes));
  if (since !== undefined) query.set('sinceTime', since);
  if (previous === true) query.set('previous', 'true');
  const request = { method: 'GET', path: renderPath({ ...at, subresource: 'log' }), query, accept: '*/*' };
  try {
    const { body } = await requests.stream(request, new AbortController().signal);
    const lines = createLines(take);
    body.setEncoding('utf8');
    for await (const text of body as AsyncIterable<string>) lines.take(text);
    lines.end();
  } catch (error) {
    // 400: its container has not started, or there was none before.
    const isWithoutLog = error instanceof KubernetesError && (error.status === 404 || error.status === 400);
    if (!isWithoutLog) throw error;
  }
}
