import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { ReactorInstance, ReactorWorkload } from '../../domain/declarations.ts';
import type { ReactorLog, StopReason, SupervisorLine, SupervisorStart } from '../../domain/reactor-supervision.ts';
import { SUPERVISOR_ENVIRONMENT } from '../workloads/supervisor-environment.ts';

/** How a supervisor is started: arguments to this Node, for example the path of main.ts and the role's name. */
export type SupervisorCommand = readonly string[];

/** What a supervisor tells after it is ready. */
export interface SupervisorEvents {
  onStopped?: (reason: StopReason) => void;
  onLog?: (line: ReactorLog) => void;
}

/** The supervisor ended before it was ready; the message says why, in words for a person. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** One supervisor as a child process of ours. Its standard input, which we hold, is also its life line. */
export class SupervisorProcess {
  /** Rejects with a StartError. */
  readonly ready: Promise<ReactorInstance>;
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;

  constructor(command: SupervisorCommand, workload: ReactorWorkload | undefined, events: SupervisorEvents = {}) {
    const credential = randomBytes(32).toString('base64url');
    const start: SupervisorStart = workload ? { mode: 'run', credential, workload } : { mode: 'check', credential };
    this.#process = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...command], {
      // The user's environment may hold secrets of the API; a supervisor needs none of it. /bin/sh is all it looks up.
      env: { PATH: '/usr/bin:/bin', ...SUPERVISOR_ENVIRONMENT },
      stdio: ['pipe', 'pipe', 'inherit'],
      // Out of reach of a Ctrl-C in the terminal, which would end the code in the middle of invocations.
      detached: true,
    });
    const ready = Promise.withResolvers<ReactorInstance>();
    const exited = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.exited = exited.promise;
    this.ready.catch(() => undefined);
    let refusal = 'The instance ended before it was ready.';

    createInterface({ input: this.#process.stdout! }).on('line', (text) => {
      const line = parseLine(text);
      if (line === undefined) return;
      if ('listening' in line) {
        ready.resolve({ address: line.listening, credential, revision: workload?.revision ?? '' });
      } else if ('refused' in line) refusal = line.refused;
      else if ('stopped' in line) events.onStopped?.(line.stopped);
      else if ('log' in line) events.onLog?.(line.log);
    });
    const end = (): void => {
      ready.reject(new StartError(refusal));
      exited.resolve();
    };
    this.#process.once('close', end);
    this.#process.once('error', end);
    // It may end before it has read: 'close' tells.
    this.#process.stdin!.on('error', () => undefined);
    this.#process.stdin!.write(`${JSON.stringify(start)}\n`);
  }

  /** Lets invocations that run end first. */
  drain(): void {
    this.#process.kill('SIGTERM');
  }

  /** Ends it with the process under it, at once: closing its life line makes it take its child along. */
  async kill(graceMs: number): Promise<void> {
    this.#process.stdin!.end();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), graceMs);
    await this.exited;
    clearTimeout(timer);
  }
}

/** Undefined for anything else that found its way to standard output. */
function parseLine(text: string): SupervisorLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as SupervisorLine) : undefined;
  } catch {
    return undefined;
  }
}
