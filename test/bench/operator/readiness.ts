import type { KubernetesClient } from '../../../src/platform/kubernetes/client.ts';
import type { ResourcePath } from '../../../src/platform/kubernetes/paths.ts';
import { ACCESS_RULES, APPLICATIONS, type LoadSize } from './declarations.ts';

interface Conditioned {
  metadata: { namespace?: string; name?: string; generation?: number };
  status?: { observedGeneration?: number; conditions?: { type: string; status: string }[] };
}

const WATCH_SECONDS = 3600;

function isReady({ metadata, status }: Conditioned): boolean {
  const isTrue = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
  return isTrue && status?.observedGeneration === metadata.generation;
}

async function readyIn(client: KubernetesClient, at: ResourcePath, count: number, signal: AbortSignal): Promise<void> {
  const { resourceVersion } = await client.listPage(at, { limit: 1 });
  const query = { resourceVersion, timeoutSeconds: WATCH_SECONDS };
  const ready = new Set<string>();
  for await (const { type, object } of client.watch<Conditioned>(at, query, signal)) {
    if (type === 'BOOKMARK') continue;
    const name = `${object.metadata.namespace}/${object.metadata.name}`;
    if (isReady(object)) ready.add(name);
    else ready.delete(name);
    if (ready.size >= count) return;
  }
  throw new Error(`The watch of ${at.plural} ended with ${ready.size} of ${count} ready`);
}

/** Resolves once as many became Ready as there are; to be called before the operator starts. */
export async function allReady(client: KubernetesClient, size: LoadSize, signal: AbortSignal): Promise<void> {
  await Promise.all([
    readyIn(client, APPLICATIONS, size.applications, signal),
    readyIn(client, ACCESS_RULES, size.rules, signal),
  ]);
}
