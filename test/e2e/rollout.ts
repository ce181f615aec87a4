import type { KubernetesNode } from './node/node.ts';
import { listPods } from './pods.ts';
import { REACTOR_NAMESPACE, RELEASE } from './release.ts';
import { TEAM } from './team.ts';

/** What another version is to leave as it is: under which id each declaration is known, and the keys that were given out. */
export async function declarations(node: KubernetesNode): Promise<string> {
  const ids = '--output=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.status.id}{"\\n"}{end}';
  const keys = '--output=jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.data.api-key}{"\\n"}{end}';
  return (
    (await node.demand(['get', 'tokenkeep', '-n', TEAM, ids])) +
    (await node.demand(['get', 'secrets', '-n', TEAM, keys]))
  );
}

/** Nothing runs, or is ending, that is of another version; and what runs is Ready. */
export async function assertAllRun(node: KubernetesNode, image: string): Promise<void> {
  const all = [...(await listPods(node, RELEASE.namespace)), ...(await listPods(node, REACTOR_NAMESPACE))];
  const others = all.filter((pod) => pod.image !== image || pod.isEnding || !pod.isReady);
  if (others.length > 0) throw new Error(`not yet replaced: ${others.map(({ name }) => name).join(', ')}`);
}
