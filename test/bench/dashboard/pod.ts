import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { reactorServerName } from '../../../src/domain/reactor-certificates.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { openServerCertificate, tlsFilesOf } from '../../../src/platform/server-certificate.ts';
import { createTransport } from '../../../src/reactors/transport.ts';
import { eventually } from '../../support/eventually.ts';
import { spawnProgram } from '../../support/program.ts';
import { createTestCredentials } from '../../support/reactors/credentials.ts';
import { workloadOf } from '../../support/reactors.ts';

export interface LoadedPod {
  /** Of its metrics: `host:port`. */
  readonly metrics: string;
  stop(): Promise<void>;
}

/** An instance of a reactor as a pod has it, which is called several times a second. */
export async function startLoadedPod(folder: string): Promise<LoadedPod> {
  const credentials = await createTestCredentials(folder);
  const workload = workloadOf('module.exports = async ({ args }) => ({ raw: args });');
  const { tenantId, reactorId, revision } = workload;
  const file = join(folder, 'workload.json');
  await writeFile(file, JSON.stringify(workload));
  const tls = await credentials.server('instance', workload);
  const ports = ['--host=127.0.0.1', '--port=0', '--health-port=0'];
  const program = spawnProgram(['reactor', `--workload-file=${file}`, `--tls-dir=${tls}`, ...ports]);
  const found = (message: string): Promise<Record<string, string>> =>
    eventually(
      () => {
        const line = program.output.stdout.split('\n').find((text) => text.includes(message));
        if (line === undefined) throw new Error(`the instance has not said: ${message}`);
        return JSON.parse(line) as Record<string, string>;
      },
      { deadlineMs: 30_000 },
    );
  const { address } = await found('Instance listens');
  const { port } = await found('Health is served');
  const identity = await openServerCertificate({
    ...tlsFilesOf(await credentials.client('api')),
    logger: silentLogger,
  });
  const transport = createTransport({ identity });
  const instance = { address: address!, credential: '', revision, serverName: reactorServerName(tenantId, reactorId) };
  let isStopped = false;
  const calling = (async () => {
    while (!isStopped) {
      const invocation = { tenantId, reactorId, revision, args: {}, traceId: 'bench', timeoutMs: 10_000 };
      await transport.invoke(instance, invocation, () => undefined);
      await delay(100);
    }
  })();
  return {
    metrics: `127.0.0.1:${port}`,
    async stop() {
      isStopped = true;
      await calling;
      transport.close();
      identity.close();
      program.child.kill('SIGTERM');
      await program.ended;
    },
  };
}
