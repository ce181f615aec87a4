import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesCluster } from '../kubernetes/control-plane.ts';
import { startTestVault, type TestVault } from '../vault.ts';
import { startOperatorProcess, type OperatorProcess } from './operator-process.ts';

const STOP_DEADLINE_MS = 30_000;

/** `tokenkeep operator` as the chart lets it run, between a cluster and a vault of its own. */
export interface ChartOperator {
  readonly vault: TestVault;
  readonly process: OperatorProcess;
  stop(): Promise<void>;
}

export interface ChartOperatorOptions {
  /** `namespace/name`; what it may do is what it is granted in the cluster. */
  readonly serviceAccount: string;
  /** All where it is undefined. */
  readonly namespaces?: readonly string[];
}

export async function startChartOperator(
  cluster: KubernetesCluster,
  { serviceAccount, namespaces }: ChartOperatorOptions,
): Promise<ChartOperator> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-chart-operator-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const vault = await startTestVault();
  undo.defer(() => vault.stop());
  const tokenFile = join(folder, 'internal-token');
  await writeFile(tokenFile, vault.internalToken, { mode: 0o600 });

  const operator = startOperatorProcess({
    flags: [
      ...['--kubeconfig', await cluster.kubeconfigFor(serviceAccount)],
      ...['--internal-url', vault.internalUrl, '--internal-token-file', tokenFile, '--public-url', vault.baseUrl],
      ...['--leader-election-namespace', serviceAccount.split('/')[0]!],
      ...['--metrics-port', '0', '--health-port', '0'],
      ...(namespaces === undefined ? [] : ['--watch-namespaces', namespaces.join(',')]),
    ],
  });
  undo.defer(async () => {
    operator.signal('SIGTERM');
    const timer = setTimeout(() => operator.signal('SIGKILL'), STOP_DEADLINE_MS);
    await operator.ended;
    clearTimeout(timer);
  });
  const all = undo.move();
  return { vault, process: operator, stop: () => all.disposeAsync() };
}
