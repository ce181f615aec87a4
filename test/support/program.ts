import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepOutput } from './run-canaries.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'src', 'main.ts');

/** What a program left behind when it ended by itself. */
export interface Ended {
  /** Null where a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The real program in a process of its own. */
export interface Spawned {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  /** Resolves with the exit code once all output is read. */
  ended: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** A test that fails half-way must not leave a vault behind. */
function endWithThisProcess(child: ChildProcess): void {
  if (!process.listeners('exit').includes(killAll)) process.once('exit', killAll);
  running.add(child);
  child.once('exit', () => running.delete(child));
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** `coreFolder`: where it may write core files of any size; without one, it may not. */
export function spawnProgram(args: readonly string[], env: Record<string, string> = {}, coreFolder?: string): Spawned {
  const limit = coreFolder === undefined ? 'ulimit -c 0' : 'ulimit -c unlimited';
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, ...args];
  const child = spawn('/bin/sh', ['-c', `${limit}; exec "$@"`, 'sh', ...program], {
    cwd: coreFolder ?? ROOT,
    // Nothing of this process's own settings, which may be those of a vault.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithThisProcess(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const ended = once(child, 'close').then(([code]) => {
    keepOutput('output-of-programs', output.stdout + output.stderr);
    return code as number | null;
  });
  return { child, output, ended };
}

/** Runs a command of the program to its end. */
export async function runProgram(args: readonly string[], env?: Record<string, string>): Promise<Ended> {
  const { output, ended } = spawnProgram(args, env);
  return { code: await ended, ...output };
}
