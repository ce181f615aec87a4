import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Context } from 'mocha';
import { requireKubernetesPrograms } from '../support/kubernetes/programs.ts';
import { startTestPostgres, stopTestPostgres } from '../support/postgres.ts';
import { addUnrelated, declareLoad, type LoadSize } from './operator/declarations.ts';
import { measureEnforcement } from './operator/enforcement.ts';
import {
  createRequestCounter,
  memoryAtRest,
  peakMemory,
  readMetric,
  reconciledAt,
  type Memory,
  type RequestCounts,
} from './operator/figures.ts';
import { allReady } from './operator/readiness.ts';
import { setStand, type MeasuredOperator } from './operator/stand.ts';

// How an operator fares with thousands of declarations, over a real kube-apiserver and a vault over a real Postgres.

const REST_SECONDS = 60;

const { values } = parseArgs({
  options: {
    applications: { type: 'string', default: '5000' },
    rules: { type: 'string', default: '10000' },
    unrelated: { type: 'string', default: '20000' },
    changes: { type: 'string', default: '200' },
    namespaces: { type: 'string', default: '50,1' },
    quick: { type: 'boolean', default: false },
    /** Of the operator's processes: `--node-flags=--cpu-prof,--cpu-prof-dir=/tmp/profiles`. */
    'node-flags': { type: 'string', default: '' },
  },
});
const scale = values.quick ? 10 : 1;
const wanted = {
  applications: Math.ceil(Number(values.applications) / scale),
  rules: Math.ceil(Number(values.rules) / scale),
  unrelated: Math.ceil(Number(values.unrelated) / scale),
  changes: Math.ceil(Number(values.changes) / (values.quick ? 4 : 1)),
  restSeconds: values.quick ? REST_SECONDS / 4 : REST_SECONDS,
};
const nodeFlags = values['node-flags'].split(',').filter((flag) => flag !== '');

/** What stands in for a test where there is none to skip. */
const context = {
  timeout: () => undefined,
  skip: () => {
    throw new Error('what is needed is not there');
  },
} as unknown as Context;

const row = (what: string, figure: string): void => console.log(`| ${what} | ${figure} |`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
const describeMemory = ({ rssBytes, heapBytes }: Memory): string =>
  `RSS ${mebibytes(rssBytes)}, heap ${mebibytes(heapBytes)}`;

function describeRequests({ byAction, total, writes, refused }: RequestCounts): string {
  const parts = [...byAction].map(([action, count]) => `${count} ${action}`);
  return `${total} requests, ${writes} writes, ${refused} answered 4xx or 5xx (${parts.join(', ')})`;
}

const count = (operator: MeasuredOperator): Promise<number> =>
  readMetric(operator.metricsUrl, 'controller_runtime_reconcile_total');

async function measure(size: LoadSize, unrelated: number): Promise<void> {
  await using stand = await setStand(await requireKubernetesPrograms(context), nodeFlags);
  const { client, vault } = stand.stage;
  const requests = createRequestCounter(stand.cluster.auditLog);
  await declareLoad(client, size);

  const watching = new AbortController();
  const ready = allReady(client, size, watching.signal);
  let operator = await stand.startOperator();
  await ready;
  row('cold start to all Ready', seconds(performance.now() - operator.startedAt));
  await reconciledAt(operator.metricsUrl);
  const cold = await requests();
  const reconciles = await count(operator);
  const declared = size.applications + size.rules;
  row('requests of the cold start', describeRequests(cold));
  row('reconciles of it', `${reconciles}: ${(reconciles / declared).toFixed(2)} for each resource`);
  const perApplication = (cold.total / size.applications).toFixed(1);
  row('API server requests', `${(cold.total / reconciles).toFixed(2)} a reconcile, ${perApplication} an Application`);
  row('memory, peak', `RSS ${mebibytes(await peakMemory(operator.process.pid))}`);
  row('memory at rest after it', describeMemory(await memoryAtRest(operator.process.pid, operator.metricsUrl)));

  await requests();
  await new Promise((resolve) => setTimeout(resolve, wanted.restSeconds * 1000));
  const rest = await requests();
  row(`requests a minute at rest`, ((rest.total * 60) / wanted.restSeconds).toFixed(1));
  row('what they are', describeRequests(rest));

  const { changes, p50, p99, max } = await measureEnforcement(client, vault, size, wanted.changes);
  row(
    `a changed AccessRule until enforced, ${changes} times`,
    `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, most ${max.toFixed(0)} ms`,
  );
  row('requests for each of them', ((await requests()).total / changes).toFixed(1));

  const restart = async (what: string): Promise<void> => {
    await operator.stop();
    await requests();
    operator = await stand.startOperator();
    row(`${what} to steady`, seconds((await reconciledAt(operator.metricsUrl)) - operator.startedAt));
    row(`requests of the ${what}`, describeRequests(await requests()));
    row(`memory at rest after it`, describeMemory(await memoryAtRest(operator.process.pid, operator.metricsUrl)));
  };
  await restart('warm restart');
  if (unrelated > 0) {
    await addUnrelated(client, unrelated, size);
    const beside = describeMemory(await memoryAtRest(operator.process.pid, operator.metricsUrl));
    row(`memory while ${unrelated} unrelated Secrets and ConfigMaps were made`, beside);
    await restart('warm restart beside them');
  }
  await operator.stop();
}

await startTestPostgres();
try {
  for (const [run, namespaces] of values.namespaces.split(',').map(Number).entries()) {
    const { applications, rules } = wanted;
    console.log(`\n${applications} Applications and ${rules} AccessRules in ${namespaces} namespaces,`);
    console.log(`load average ${loadavg()[0]!.toFixed(1)}\n\n| What | Figure |\n| --- | --- |`);
    // Beside the first layout alone: what is unrelated weighs the same in any.
    await measure({ applications, rules, namespaces }, run === 0 ? wanted.unrelated : 0);
  }
} finally {
  await stopTestPostgres();
}
