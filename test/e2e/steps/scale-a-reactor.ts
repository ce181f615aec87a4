import { deepStrictEqual, ok } from 'node:assert';
import { eventually } from '../../support/eventually.ts';
import { assertUnharmed, remarkOf, startLoad } from '../load/load.ts';
import { apply } from '../manifests/objects.ts';
import type { KubernetesNode } from '../node/node.ts';
import { listPods } from '../pods.ts';
import { REACTOR_NAMESPACE } from '../release.ts';
import type { Step } from '../step.ts';
import { TEAM } from '../team.ts';

const NAME = 'unhurried';
const MOST = 3;

/** From nothing to its most under load, and back to nothing once nobody calls. */
export const scaleAReactor: Step = {
  name: 'scale a reactor out, and to zero',
  async run(stage) {
    const node = stage.get('node');
    await apply(node, [unhurriedReactor(1)]);
    await node.demand(['wait', '--for=condition=Ready', '--timeout=60s', '-n', TEAM, `reactor/${NAME}`]);
    const reactorId = await idOf(node);

    using load = await startLoad(stage, { reactorId, callers: 4 });
    await eventually(async () => deepStrictEqual(await scaleOf(node, reactorId), { wanted: MOST, ready: MOST }), {
      ...{ deadlineMs: 200_000, everyMs: 500 },
    });
    const report = await load.stop();
    assertUnharmed(report);
    const begun = performance.now();
    await eventually(async () => deepStrictEqual(await scaleOf(node, reactorId), { wanted: 0, ready: 0 }), {
      ...{ deadlineMs: 200_000, everyMs: 500 },
    });
    await eventually(() => assertNoPods(node, reactorId), { deadlineMs: 60_000, everyMs: 500 });
    const idle = Math.round((performance.now() - begun) / 1000);

    // The first call after that waits for a pod.
    using first = await startLoad(stage, { reactorId, callers: 1 });
    await eventually(async () => ok((await scaleOf(node, reactorId)).ready > 0), { deadlineMs: 90_000 });
    const woken = await first.stop();
    assertUnharmed(woken);
    return `${remarkOf(report)}; to zero in ${idle} s; first call then ${woken.maxMs} ms`;
  },
};

/** It answers after a while, with the number of its code. */
export function unhurriedReactor(revision: number): object {
  const code = `module.exports = async () => {
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { raw: { revision: ${revision} } };
};
`;
  return {
    ...{ apiVersion: 'tokenkeep.dev/v1alpha1', kind: 'Reactor', metadata: { name: NAME, namespace: TEAM } },
    spec: {
      code,
      applicationRef: { name: 'payments' },
      scaling: { minReplicas: 0, maxReplicas: MOST, concurrency: 1, idleSeconds: 5 },
    },
  };
}

export async function idOf(node: KubernetesNode): Promise<string> {
  return node.demand(['get', 'reactor', NAME, '-n', TEAM, '--output=jsonpath={.status.id}']);
}

export async function assertNoPods(node: KubernetesNode, reactorId: string): Promise<void> {
  const pods = await listPods(node, REACTOR_NAMESPACE, labelOf(reactorId));
  if (pods.length > 0) throw new Error(`reactor ${reactorId} still has ${pods.map(({ name }) => name).join(', ')}`);
}

function labelOf(reactorId: string): string {
  return `tokenkeep.dev/reactor-id=${reactorId}`;
}

/** What its one Deployment asks for, and what there is of it. */
async function scaleOf(node: KubernetesNode, reactorId: string): Promise<{ wanted: number; ready: number }> {
  const format = '--output=jsonpath={range .items[*]}{.spec.replicas} {.status.readyReplicas}{"\\n"}{end}';
  const selected = ['get', 'deployments', '-n', REACTOR_NAMESPACE, `--selector=${labelOf(reactorId)}`, format];
  const lines = (await node.demand(selected)).split('\n').filter((line) => line !== '');
  deepStrictEqual(lines.length, 1, `reactor ${reactorId} has ${lines.length} Deployments`);
  const [wanted, ready] = lines[0]!.split(' ');
  return { wanted: Number(wanted), ready: Number(ready) };
}
