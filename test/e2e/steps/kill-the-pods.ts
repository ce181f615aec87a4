import { ok } from 'node:assert';
import { eventually } from '../../support/eventually.ts';
import { BACKING } from '../backing.ts';
import { startLoad, type LoadProgress } from '../load/load.ts';
import type { KubernetesNode } from '../node/node.ts';
import { listPods, type Pod } from '../pods.ts';
import { REACTOR_NAMESPACE, RELEASE } from '../release.ts';
import type { Step } from '../step.ts';
import { callFromTheWorkload } from './call-from-a-pod.ts';
import { assertNoPods, idOf } from './scale-a-reactor.ts';

const NAMESPACES = [RELEASE.namespace, REACTOR_NAMESPACE, BACKING];
const DEADLINE = { deadlineMs: 150_000, everyMs: 500 };

/** Each pod dies as if its memory had run out, one after another, while clients go on calling. */
export const killThePods: Step = {
  name: 'kill every pod under load',
  deadlineMs: 15 * 60_000,
  async run(stage) {
    const node = stage.get('node');
    const unhurried = await idOf(node);
    await eventually(() => assertNoPods(node, unhurried), DEADLINE);
    using load = await startLoad(stage);
    const pods = await runningPods(node);
    const groups = pods.map(({ group }) => group);
    for (const group of ['api', 'operator', 'postgres-0', 'openbao-0'])
      ok(groups.includes(group), `no pod of ${group}`);
    ok(
      pods.some(({ namespace }) => namespace === REACTOR_NAMESPACE),
      'no pod of a reactor',
    );
    for (const pod of pods) {
      load.forgetOutages();
      const before = load.progress();
      await killProcesses(node, pod);
      await eventually(() => assertRestarted(node, pod), DEADLINE);
      await eventually(() => assertReady(node, pods), DEADLINE);
      const ready = load.progress();
      // Only then the next one: its outage is to be its own.
      await eventually(() => ok(succeededOf(load.progress()) > succeededOf(ready), 'no request succeeds'), DEADLINE);
      const { failed, outageMs } = load.progress();
      const harm = `${failed - before.failed} requests failed, none succeeded for ${outageMs} ms at most`;
      process.stdout.write(`   ${pod.namespace}/${pod.name}: ${harm}\n`);
    }
    const { requests, failed, acknowledged, lost } = await load.stop();
    if (lost > 0) throw new Error(`${lost} of ${acknowledged} tokens that were acknowledged are gone`);
    if (acknowledged === 0) throw new Error('no token was acknowledged');
    await eventually(() => callFromTheWorkload(stage), DEADLINE);
    return `${pods.length} pods; ${failed} of ${requests} requests failed; of ${acknowledged} acknowledged tokens none is lost`;
  },
};

/** Of everything that the vault is made of. One that is ending, or has done its work, is none. */
async function runningPods(node: KubernetesNode): Promise<Pod[]> {
  const pods = await Promise.all(NAMESPACES.map((namespace) => listPods(node, namespace)));
  return pods.flat().filter(({ isReady, isEnding }) => isReady && !isEnding);
}

/**
 * All of them at once, that which holds the pod's network, too. A deletion, even one that is forced, would say SIGTERM
 * first.
 */
async function killProcesses(node: KubernetesNode, { name, uid }: Pod): Promise<void> {
  const { code, stdout, stderr } = await node.machine.run('sh', ['-euc', KILL, 'sh', uid]);
  if (code !== 0) throw new Error(`${name} was not killed: ${stdout}${stderr}`);
}

/** By the name of the cgroup; the other spelling is that of systemd. */
const KILL = `
pids=$(grep -lE "pod($1|$(echo "$1" | tr - _))" /proc/[0-9]*/cgroup 2> /dev/null | cut -d/ -f3)
[ -n "$pids" ]
kill -KILL $pids`;

async function assertRestarted(node: KubernetesNode, { namespace, name, uid, restarts }: Pod): Promise<void> {
  const pod = (await listPods(node, namespace)).find((each) => each.uid === uid);
  const before = restarts[0] ?? 0;
  if ((pod?.restarts[0] ?? 0) <= before) throw new Error(`${namespace}/${name} has not been started again`);
}

/** The very same pods: none was replaced by another one, and none is left out of service. */
async function assertReady(node: KubernetesNode, pods: readonly Pod[]): Promise<void> {
  const ready = new Set((await runningPods(node)).map(({ uid }) => uid));
  const missing = pods.filter(({ uid }) => !ready.has(uid));
  if (missing.length > 0) throw new Error(`not Ready: ${missing.map(({ name }) => name).join(', ')}`);
}

const succeededOf = ({ requests, failed }: LoadProgress): number => requests - failed;
