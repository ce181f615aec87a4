import { silentLogger } from '../../../src/platform/logger.ts';
import { freePort } from '../../support/free-port.ts';
import { startKubernetes, type KubernetesCluster } from '../../support/kubernetes/control-plane.ts';
import type { KubernetesPrograms } from '../../support/kubernetes/programs.ts';
import { startOperatorStage, type OperatorStage } from '../../support/operator/crash-stage.ts';
import { startOperatorProcess, type OperatorProcess } from '../../support/operator/operator-process.ts';

/** A cluster and a vault of a measurement's own, and one operator after another over them. */
export interface Stand extends AsyncDisposable {
  readonly cluster: KubernetesCluster;
  readonly stage: OperatorStage;
  startOperator(): Promise<MeasuredOperator>;
}

export interface MeasuredOperator {
  readonly process: OperatorProcess;
  readonly metricsUrl: string;
  /** In ms of `performance.now()`. */
  readonly startedAt: number;
  stop(): Promise<void>;
}

/** A million requests: what is counted must not be rotated away. */
const API_SERVER_FLAGS = ['--audit-log-maxsize=4096', '--max-requests-inflight=1000'];

export async function setStand(programs: KubernetesPrograms, nodeFlags: readonly string[]): Promise<Stand> {
  await using undo = new AsyncDisposableStack();
  const cluster = await startKubernetes(programs, { apiServerFlags: API_SERVER_FLAGS });
  undo.defer(() => cluster.stop());
  const stage = await startOperatorStage(cluster, { logger: silentLogger });
  undo.defer(() => stage.close());
  const all = undo.move();
  return {
    ...{ cluster, stage },
    async startOperator() {
      const port = await freePort();
      const flags = stage.directly.map((flag, index, list) =>
        list[index - 1] === '--metrics-port' ? `${port}` : flag,
      );
      const startedAt = performance.now();
      const operator = startOperatorProcess({ flags: [...flags, '--log-level', 'warn'], nodeFlags });
      return {
        ...{ process: operator, startedAt, metricsUrl: `http://127.0.0.1:${port}/metrics` },
        async stop() {
          operator.signal('SIGTERM');
          await operator.ended;
        },
      };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
