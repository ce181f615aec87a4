import type { ReactorWorkload } from '../../domain/declarations.ts';
import { startHttpServer } from '../../platform/http-server.ts';
import type { SupervisorLine, SupervisorStart } from '../../domain/reactor-supervision.ts';
import { Checker } from './checks.ts';
import { Instance } from './instance.ts';
import { createListener } from './listener.ts';
import type { Served } from './listener.ts';

export interface Supervisor {
  /** Takes nothing more on, lets what runs come to its end within `graceMs`, and ends the process of the code. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Serves one reactor, or checks code, on a free loopback port. Undefined when the code cannot run: `print` has told
 * why.
 */
export async function startSupervisor(
  start: SupervisorStart,
  print: (line: SupervisorLine) => void,
): Promise<Supervisor | undefined> {
  const part = start.mode === 'run' ? await runPart(start.workload, print) : checkPart();
  if (!part) return undefined;
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    portFlag: '--port',
    listener: createListener({ credential: start.credential, ...part.served }),
  });
  print({ listening: `http://127.0.0.1:${server.port}` });
  return {
    async stop(graceMs) {
      const closed = server.close(graceMs);
      await Promise.race([part.drain(), closed]);
      await closed;
      await part.kill();
    },
  };
}

interface Part {
  served: Omit<Served, 'credential'>;
  drain(): Promise<void>;
  kill(): Promise<void>;
}

async function runPart(workload: ReactorWorkload, print: (line: SupervisorLine) => void): Promise<Part | undefined> {
  const instance = new Instance({ workload, onStopped: (reason) => print({ stopped: reason }) });
  const refused = await instance.start();
  if (refused !== undefined) {
    print({ refused });
    return undefined;
  }
  return {
    served: {
      revision: workload.revision,
      concurrency: workload.scaling.concurrency,
      isFree: () => instance.isFree,
      invoke: (request) => instance.invoke(request),
    },
    drain: () => instance.drain(),
    kill: () => instance.kill(),
  };
}

function checkPart(): Part {
  const checker = new Checker();
  return {
    served: { concurrency: 1, isFree: () => true, check: (code) => checker.check(code) },
    drain: async () => undefined,
    kill: () => checker.kill(),
  };
}
