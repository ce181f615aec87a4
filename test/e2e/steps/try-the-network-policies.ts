import { deepStrictEqual, ok } from 'node:assert';
import { BACKING } from '../backing.ts';
import type { KubernetesNode } from '../node/node.ts';
import { listPods, type Pod } from '../pods.ts';
import { REACTOR_NAMESPACE, RELEASE } from '../release.ts';
import type { Step } from '../step.ts';
import { TEAM } from '../team.ts';

/** Who is asked to connect: a pod of each kind that the vault is made of, and one of a team, which no policy of ours is about. */
const CALLERS = ['workload', 'api', 'operator', 'reactor', 'checker'] as const;

type Caller = (typeof CALLERS)[number];

/**
 * Each port that something listens on, and who gets there. Each is open to somebody, so that a port which nobody listens
 * on would be noticed.
 */
const OPEN_TO: Readonly<Record<string, readonly Caller[]>> = {
  'api:8080': ['workload'],
  // What the operator alone may ask for.
  'api:8443': ['operator'],
  // svc, for what reactors' code asks the API.
  'api:8444': ['reactor'],
  'api:9090': ['workload'],
  'operator:9090': ['workload'],
  'reactor:8443': ['api'],
  'checker:8443': ['api'],
  'postgres:5432': ['workload', 'api'],
  'openbao:8200': ['workload', 'api'],
  'kubernetes:443': ['workload', 'api', 'operator'],
};

/** Policies are worth what something makes of them: kube-router does on this node. */
export const tryTheNetworkPolicies: Step = {
  name: 'try the network policies',
  async run(stage) {
    const node = stage.get('node');
    const pods = await callersOf(node);
    const addresses: Record<string, string> = {
      ...Object.fromEntries(Object.entries(pods).map(([name, { address }]) => [name, address])),
      postgres: await addressOf(node, 'postgres-0'),
      openbao: await addressOf(node, 'openbao-0'),
      kubernetes: await node.demand(['get', 'service', 'kubernetes', '--output=jsonpath={.spec.clusterIP}']),
    };
    const targets = Object.keys(OPEN_TO);
    const places = targets.map((target) => {
      const [name = '', port = ''] = target.split(':');
      return `${addresses[name]} ${port}`;
    });
    const found: Record<string, Caller[]> = Object.fromEntries(targets.map((target) => [target, []]));
    for (const caller of CALLERS) {
      const open = await connections(node, pods[caller], places);
      targets.forEach((target, index) => open[index] && isOther(caller, target) && found[target]!.push(caller));
    }
    deepStrictEqual(found, OPEN_TO);
    const tried = CALLERS.flatMap((caller) => targets.filter((target) => isOther(caller, target)));
    const open = Object.values(found).flat().length;
    return `${open} ways open, ${tried.length - open} shut`;
  },
};

/** No policy is asked about what a pod says to itself. */
function isOther(caller: Caller, target: string): boolean {
  return !target.startsWith(`${caller}:`);
}

async function callersOf(node: KubernetesNode): Promise<Record<Caller, Pod>> {
  const first = (pods: readonly Pod[], isIt: (pod: Pod) => boolean): Pod => {
    const pod = pods.find((each) => each.isReady && !each.isEnding && isIt(each));
    ok(pod, `there is none among ${pods.map(({ name }) => name).join(', ')}`);
    return pod;
  };
  const ours = await listPods(node, RELEASE.namespace);
  const reactors = await listPods(node, REACTOR_NAMESPACE);
  const isChecker = ({ name }: Pod): boolean => name.startsWith('reactor-checker');
  return {
    workload: first(await listPods(node, TEAM), ({ name }) => name === 'workload'),
    api: first(ours, ({ group }) => group === 'api'),
    operator: first(ours, ({ group }) => group === 'operator'),
    reactor: first(reactors, (pod) => !isChecker(pod)),
    checker: first(reactors, isChecker),
  };
}

async function addressOf(node: KubernetesNode, name: string): Promise<string> {
  return node.demand(['get', 'pod', name, '-n', BACKING, '--output=jsonpath={.status.podIP}']);
}

/** Whether each place, `<address> <port>`, can be connected to from a pod. */
async function connections(node: KubernetesNode, pod: Pod, places: readonly string[]): Promise<boolean[]> {
  // Ours have no shell, and that of the team no Node.
  const command = pod.namespace === TEAM ? ['sh', '-euc', BY_CURL, 'sh'] : ['/usr/local/bin/node', '-e', BY_NODE, '--'];
  const exec = ['exec', '-n', pod.namespace, pod.name, '--', ...command, ...places];
  const lines = (await node.demand(exec)).trim().split('\n');
  deepStrictEqual(lines.length, places.length, `${pod.name} said: ${lines.join(' ')}`);
  return lines.map((line) => line === 'open');
}

const BY_CURL = `
for place; do
  took=$(curl -s -o /dev/null -w '%{time_connect}' --connect-timeout 3 --max-time 3 "http://\${place% *}:\${place#* }/" || true)
  case $took in 0 | 0.000000) echo shut ;; *) echo open ;; esac
done`;

const BY_NODE = `
const { connect } = require('node:net');
const tried = process.argv.slice(1).map((place) => new Promise((resolve) => {
  const [host, port] = place.split(' ');
  const socket = connect({ host, port: Number(port), timeout: 3_000 });
  const end = (word) => { socket.destroy(); resolve(word); };
  socket.on('connect', () => end('open')).on('error', () => end('shut')).on('timeout', () => end('shut'));
}));
Promise.all(tried).then((words) => console.log(words.join('\\n')));`;
