import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

const STOP_DEADLINE_MS = 10_000;

/** One process of a control plane, whose output goes to a file. */
export interface Component {
  start(): void;
  /** As a machine that goes away. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Throws with the end of its output where it does not run any more. */
  assertRunning(): Promise<void>;
}

export function createComponent(program: string, args: readonly string[], logFile: string): Component {
  let child: ChildProcess | undefined;

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    const timer = setTimeout(() => ending.kill('SIGKILL'), STOP_DEADLINE_MS);
    await exited;
    clearTimeout(timer);
  }

  return {
    start() {
      const log = openSync(logFile, 'a');
      // Nothing of a cluster that this machine may be configured for.
      const started = spawn(program, args, { env: { PATH: process.env['PATH'] }, stdio: ['ignore', log, log] });
      closeSync(log);
      const killChild = (): void => void started.kill('SIGKILL');
      process.once('exit', killChild);
      started.once('exit', () => process.off('exit', killChild));
      child = started;
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    async assertRunning() {
      if (child !== undefined && child.exitCode === null && child.signalCode === null) return;
      const output = await readFile(logFile, 'utf8').catch(() => '');
      throw new Error(`${program} ended:\n${output.slice(-2_000)}`);
    },
  };
}
