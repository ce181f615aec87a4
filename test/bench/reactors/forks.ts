import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/domain/json.ts';
import type { Contestant } from './contestant.ts';
import { CODE } from './task.ts';

/** Answers each message with what the function gives; ends with its parent. CommonJS: nothing is to be compiled first. */
const PROGRAM = `${CODE}
const run = module.exports;
process.on('message', async ({ id, request }) => process.send({ id, answer: await run(request) }));
`;

interface Reply {
  id: number;
  answer: unknown;
}

/** A place for the program, gone with it. */
export async function layForkProgram(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-bench-'));
  const path = join(folder, 'program.cjs');
  await writeFile(path, PROGRAM);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** One process that stays, with no wall between calls nor around them: what `child_process.fork` gives by itself. */
export function startWarmFork(path: string): Contestant & { readonly pid: number } {
  const child = fork(path);
  const waiting = new Map<number, (answer: unknown) => void>();
  let last = 0;
  child.on('message', ({ id, answer }: Reply) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  return {
    name: 'fork that stays, by messages',
    pid: child.pid!,
    run(args) {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const id = (last += 1);
      waiting.set(id, resolve);
      child.send({ id, request: { args, configuration: {} } });
      return promise;
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

/** A process for one call: as apart as calls get without us. Its end is not waited for. */
export async function runInFork(path: string, args: JsonObject): Promise<unknown> {
  const child = fork(path);
  child.send({ id: 1, request: { args, configuration: {} } });
  const [{ answer }] = (await once(child, 'message')) as [Reply];
  void end(child);
  return answer;
}
