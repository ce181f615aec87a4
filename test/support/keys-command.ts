import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestKeys } from './key-managements.ts';
import { runProgram, type Ended } from './standalone.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The vault whose keys a command is for. */
export interface KeysCommandTarget {
  readonly keys: TestKeys;
  /** As the owner. */
  readonly connectionString: string;
}

function argumentsOf(words: readonly string[], { keys, connectionString }: KeysCommandTarget): string[] {
  return ['keys', ...words, '--database-url', connectionString, ...keys.flags];
}

/** Runs `tokenkeep keys …` to its end, in a process of its own. */
export function runKeysCommand(words: readonly string[], target: KeysCommandTarget): Promise<Ended> {
  return runProgram(argumentsOf(words, target), target.keys.env);
}

/** Runs `tokenkeep keys …` until it has reported progress as asked for, and kills it; gives what it had reported. */
export async function killKeysCommand(
  words: readonly string[],
  target: KeysCommandTarget,
  isFarEnough: (line: string) => boolean,
): Promise<string[]> {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...argumentsOf(words, target)], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...target.keys.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    lines.push(line);
    if (isFarEnough(line)) child.kill('SIGKILL');
  }
  await exited;
  return lines;
}
