import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { DEFAULT_SCALING } from '../../src/domain/declarations.ts';
import type { ReactorInstance, ReactorWorkload } from '../../src/domain/declarations.ts';
import type { ReactorLog } from '../../src/domain/reactor-supervision.ts';
import type { Json } from '../../src/domain/json.ts';
import { createProcessRuntime } from '../../src/operator/runtimes/process.ts';
import type { ReactorRuntime, RuntimeState } from '../../src/operator/runtimes/types.ts';
import { createReactorClient } from '../../src/reactors/client.ts';
import type { ReactorClient, ReactorClientOptions } from '../../src/reactors/client.ts';
import type { InvocationOutcome, SvcAccess } from '../../src/reactors/types.ts';

export const REACTOR_COMMAND = [fileURLToPath(new URL('./reactor-entry.ts', import.meta.url))];

/** Runs `req.args.body` as the body of an async function of `req`, so that many cases share one process. */
export const BODY_RUNNER = `const AsyncFunction = (async () => {}).constructor;
module.exports = (req) => new AsyncFunction('req', 'require', req.args.body)(req, require);`;

export interface DeployedReactor {
  workload: ReactorWorkload;
  invoke: (
    args?: Json,
    options?: { svc?: SvcAccess; timeoutMs?: number; revision?: string; begin?: () => Promise<boolean> },
  ) => Promise<InvocationOutcome>;
}

/** A runtime of real processes with a client that follows it, as one machine has them. */
export interface ReactorHarness {
  runtime: ReactorRuntime;
  client: ReactorClient;
  /** What the code of the reactors has printed. */
  logs: ReactorLog[];
  /** Applies a workload and waits until its instances are ready. */
  deploy(code: string, overrides?: Partial<ReactorWorkload>, replicas?: number): Promise<DeployedReactor>;
  stop(): Promise<void>;
}

export function createReactorHarness(clientOptions: ReactorClientOptions = {}): ReactorHarness {
  const logs: ReactorLog[] = [];
  const runtime = createProcessRuntime({
    command: REACTOR_COMMAND,
    overlapMs: 300,
    onLog: (line) => void logs.push(line),
  });
  const client = createReactorClient(clientOptions);
  runtime.onChange(({ tenantId, reactorId, ready }) => client.instances.replace(tenantId, reactorId, ready));
  return {
    runtime,
    client,
    logs,
    async deploy(code, overrides = {}, replicas = 1) {
      const workload = workloadOf(code, overrides);
      await runtime.apply(workload, replicas);
      await until(() => stateOf(runtime, workload)?.ready.filter(isOf(workload.revision)).length === replicas);
      return {
        workload,
        invoke: (args = {}, { svc, timeoutMs = 30_000, revision = workload.revision, begin } = {}) =>
          client.invoke({
            tenantId: workload.tenantId,
            reactorId: workload.reactorId,
            revision,
            args,
            traceId: 'trace',
            timeoutMs,
            ...(svc ? { svc } : {}),
            ...(begin ? { begin } : {}),
          }),
      };
    },
    async stop() {
      await client.stop();
      await runtime.stop();
    },
  };
}

export function workloadOf(code: string, overrides: Partial<ReactorWorkload> = {}): ReactorWorkload {
  return {
    tenantId: 'tenant',
    reactorId: randomUUID(),
    revision: randomUUID(),
    name: 'reactor',
    code,
    configuration: {},
    timeoutSeconds: 10,
    scaling: DEFAULT_SCALING,
    memoryBytes: 256 * 1024 * 1024,
    ...overrides,
  };
}

export function stateOf(runtime: ReactorRuntime, { reactorId }: { reactorId: string }): RuntimeState | undefined {
  return runtime.list().find((state) => state.reactorId === reactorId);
}

const isOf = (revision: string) => (instance: ReactorInstance) => instance.revision === revision;

/** Looks every few milliseconds; rejects after `timeoutMs`. */
export async function until(holds: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('the awaited condition did not come about in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
