import { setTimeout as delay } from 'node:timers/promises';
import type { ReactorWorkload } from '../../domain/declarations.ts';
import { API_CLIENT_NAME } from '../../domain/reactor-certificates.ts';
import type { SupervisorLine } from '../../domain/reactor-supervision.ts';
import { startHttpServer } from '../../platform/http-server.ts';
import type { ServerCertificate } from '../../platform/server-certificate.ts';
import { urlOf } from '../../platform/server-url.ts';
import { Checker } from './checks.ts';
import { confinement } from './confinement.ts';
import { Instance } from './instance.ts';
import type { InstanceObserver } from './instance-metrics.ts';
import { createListener } from './listener.ts';
import type { Served } from './listener.ts';
import type { Authorities } from './svc.ts';

export type SupervisorTask = { mode: 'run'; workload: ReactorWorkload } | { mode: 'check' };

/** On this machine, whoever has the credential, on a free loopback port; on a network, the API by its certificate. */
export type SupervisorAccess =
  | { credential: string }
  | {
      host: string;
      port: number;
      certificate: ServerCertificate;
      /**
       * How long it goes on to answer that it is busy once it takes nothing more on, in ms. Callers learn only then
       * that it leaves: a connection that closed as a request came in on it would leave open what became of that one.
       */
      lingerMs: number;
    };

export interface Supervisor {
  /** Takes nothing more on, lets what runs come to its end within `graceMs`, and ends the process of the code. */
  stop(graceMs: number): Promise<void>;
}

/** Serves one reactor, or checks code. Undefined when the code cannot run: `print` has told why. */
export async function startSupervisor(
  task: SupervisorTask,
  access: SupervisorAccess,
  print: (line: SupervisorLine) => void,
  observer?: InstanceObserver,
): Promise<Supervisor | undefined> {
  const local = 'credential' in access;
  // `startHttpServer` refuses a certificate without authorities.
  const authorities = local ? undefined : () => access.certificate.current.ca ?? '';
  const part = task.mode === 'run' ? await runPart(task.workload, authorities, print, observer) : checkPart();
  if (!part) return undefined;
  const listener = createListener({ ...part.served, ...(local ? { credential: access.credential } : {}) });
  const { host, port } = local ? { host: '127.0.0.1', port: 0 } : access;
  const server = await startHttpServer({
    ...{ host, port, portFlag: '--port', listener },
    ...(local ? {} : { certificate: access.certificate, clientName: API_CLIENT_NAME }),
  }).catch(async (error: unknown) => {
    await part.kill();
    throw error;
  });
  print({ listening: urlOf(host, server.port, local ? 'http' : 'https'), confinement: confinement() });
  return {
    async stop(graceMs) {
      const deadline = performance.now() + graceMs;
      const drained = Promise.all([part.drain(), delay(local ? 0 : Math.min(access.lingerMs, graceMs))]);
      const cancel = new AbortController();
      await Promise.race([drained, delay(graceMs, undefined, { signal: cancel.signal }).catch(() => undefined)]);
      cancel.abort();
      await server.close(Math.max(deadline - performance.now(), 0));
      await part.kill();
    },
  };
}

interface Part {
  served: Omit<Served, 'credential'>;
  drain(): Promise<void>;
  kill(): Promise<void>;
}

async function runPart(
  workload: ReactorWorkload,
  authorities: Authorities | undefined,
  print: (line: SupervisorLine) => void,
  observer: InstanceObserver | undefined,
): Promise<Part | undefined> {
  const instance = new Instance({
    ...{ workload, authorities },
    onStopped(reason) {
      observer?.stopped(reason);
      print({ stopped: reason });
    },
    onLog: (log) => print({ log }),
  });
  const refused = await instance.start();
  if (refused !== undefined) {
    print({ refused });
    return undefined;
  }
  const { concurrency } = workload.scaling;
  observer?.follow(() => ({ inFlight: instance.inFlight, concurrency }));
  let leaving = false;
  return {
    served: {
      revision: workload.revision,
      concurrency,
      isFree: () => instance.isFree,
      isLeaving: () => leaving,
      async invoke(request) {
        const beganAt = performance.now();
        const outcome = await instance.invoke(request);
        observer?.ended(outcome, performance.now() - beganAt);
        return outcome;
      },
    },
    drain() {
      leaving = true;
      return instance.drain();
    },
    kill: () => instance.kill(),
  };
}

function checkPart(): Part {
  const checker = new Checker();
  let leaving = false;
  return {
    served: {
      concurrency: 1,
      isFree: () => !leaving,
      isLeaving: () => leaving,
      check: async (code) => (leaving ? undefined : checker.check(code)),
    },
    async drain() {
      leaving = true;
    },
    kill: () => checker.kill(),
  };
}
