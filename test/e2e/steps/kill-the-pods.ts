import { eventually } from '../../support/eventually.ts';
import { startLoad } from '../load/load.ts';
import type { KubernetesNode } from '../node/node.ts';
import { RELEASE } from '../release.ts';
import type { Step } from '../step.ts';

/** Each pod of the release dies as if its memory had run out, one after another, while clients go on calling. */
export const killThePods: Step = {
  name: 'kill every pod under load',
  async run(stage) {
    const node = stage.get('node');
    using load = await startLoad(stage);
    const pods = await namesOf(node);
    for (const pod of pods) {
      await killProcesses(node, pod);
      await eventually(() => assertRestarted(node, pod), { deadlineMs: 150_000, everyMs: 500 });
      await eventually(() => assertComplete(node), { deadlineMs: 150_000, everyMs: 500 });
    }
    const { requests, failed, acknowledged, lost } = await load.stop();
    if (lost > 0) throw new Error(`${lost} of ${acknowledged} tokens that were acknowledged are gone`);
    if (acknowledged === 0) throw new Error('no token was acknowledged');
    return `${pods.length} pods; ${failed} of ${requests} requests failed; of ${acknowledged} acknowledged tokens none is lost`;
  },
};

/**
 * All of them at once, that which holds the pod's network, too. A deletion, even one that is forced, would say SIGTERM
 * first.
 */
async function killProcesses(node: KubernetesNode, pod: string): Promise<void> {
  const uid = await node.demand(['get', '-n', RELEASE.namespace, pod, '--output=jsonpath={.metadata.uid}']);
  const { code, stdout, stderr } = await node.machine.run('sh', ['-euc', KILL, 'sh', uid]);
  if (code !== 0) throw new Error(`${pod} was not killed: ${stdout}${stderr}`);
}

/** By the name of the cgroup; the other spelling is that of systemd. */
const KILL = `
pids=$(grep -lE "pod($1|$(echo "$1" | tr - _))" /proc/[0-9]*/cgroup 2> /dev/null | cut -d/ -f3)
[ -n "$pids" ]
kill -KILL $pids`;

async function assertRestarted(node: KubernetesNode, pod: string): Promise<void> {
  const format = '--output=jsonpath={.status.containerStatuses[0].restartCount}';
  const count = await node.demand(['get', '-n', RELEASE.namespace, pod, format]);
  if (Number(count) === 0) throw new Error(`${pod} has not been restarted`);
}

async function namesOf(node: KubernetesNode): Promise<string[]> {
  // A pod that has not ended yet since the upgrade has a time of deletion.
  const format = '--output=jsonpath={range .items[*]}{.metadata.name} {.metadata.deletionTimestamp}{"\\n"}{end}';
  const pods = ['get', 'pods', '-n', RELEASE.namespace, '--field-selector=status.phase=Running', format];
  const lines = (await node.demand(pods)).split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.includes(' ')).map((name) => `pod/${name}`);
}

/** As many pods as are wanted, all of them Ready, and none that is still ending. */
async function assertComplete(node: KubernetesNode): Promise<void> {
  const format = '--output=jsonpath={range .items[*]}{.status.replicas}/{.status.readyReplicas}/{.spec.replicas} {end}';
  const deployments = (await node.demand(['get', 'deployments', '-n', RELEASE.namespace, format])).trim();
  for (const counts of deployments.split(' ')) {
    const [all, ready, wanted] = counts.split('/');
    if (all !== wanted || ready !== wanted) throw new Error(`pods, Ready ones and wanted ones: ${deployments}`);
  }
}
