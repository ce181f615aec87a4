import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DEFAULT_SCALING } from '../../../src/domain/declarations.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { createProcessRuntime } from '../../../src/operator/runtimes/process.ts';
import { createReactorClient } from '../../../src/reactors/client.ts';
import type { Instance } from '../../../src/reactors/host/instance.ts';
import { workloadOf } from '../../support/reactors.ts';
import type { Contestant } from './contestant.ts';
import { CODE } from './task.ts';

/** Where the program lies, and what its files end in. */
export interface Program {
  readonly folder: string;
  readonly extension: '.ts' | '.js';
}

export const CHECKOUT: Program = { folder: fileURLToPath(new URL('../../../src', import.meta.url)), extension: '.ts' };

const TIMEOUT_MS = 30_000;

/**
 * One instance behind the client that the API has of it. Resolves before it is ready: the client holds calls until
 * then, as it does in the API.
 */
export async function startInstance({ folder, extension }: Program, concurrency: number): Promise<Contestant> {
  const runtime = createProcessRuntime({ command: [join(folder, `main${extension}`), 'reactor'] });
  const client = createReactorClient();
  runtime.onChange(({ tenantId, reactorId, ready }) => client.instances.replace(tenantId, reactorId, ready));
  const workload = workloadOf(CODE, { scaling: { ...DEFAULT_SCALING, concurrency } });
  await runtime.apply(workload, 1);
  const { tenantId, reactorId, revision } = workload;
  return {
    name: 'reactor, by its client alone',
    run: (args) => client.invoke({ tenantId, reactorId, revision, args, traceId: 'bench', timeoutMs: TIMEOUT_MS }),
    async [Symbol.asyncDispose]() {
      await client.stop();
      await runtime.stop();
    },
  };
}

/** Starts the process that holds the isolate, loads the code in it and runs it once, as after each breach. */
export async function runInNewChild({ folder, extension }: Program, args: JsonObject): Promise<unknown> {
  const path = join(folder, 'reactors', 'host', `instance${extension}`);
  const { Instance: Loaded } = (await import(pathToFileURL(path).href)) as { Instance: typeof Instance };
  const workload = workloadOf(CODE);
  const instance = new Loaded({ workload, onStopped: () => undefined });
  const refused = await instance.start();
  if (refused !== undefined) throw new Error(refused);
  const { revision } = workload;
  const outcome = await instance.invoke({ revision, args, traceId: 'bench', timeoutMs: TIMEOUT_MS });
  void instance.kill();
  return outcome;
}
