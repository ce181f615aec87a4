import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** A Redis or Valkey of a test's own, without anything stored. */
export interface TestRedis {
  readonly url: string;
  /** As a machine that goes away: connections break. */
  kill(): Promise<void>;
  /** Again, on the same port, empty. */
  start(): Promise<void>;
  /** Stops answering, while connections stay open and new ones are accepted. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

const PASSWORD = 'canary-of-redis';

/** The program that TOKENKEEP_TEST_REDIS names, or one of the two on the path. */
function findProgram(): string | undefined {
  const named = process.env['TOKENKEEP_TEST_REDIS'];
  if (named !== undefined) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Skips the tests where there is no Redis, saying so; in CI, fails them. To be called in a `before` hook. */
export function requireRedis(context: Context): string {
  const program = findProgram();
  if (program !== undefined) return program;
  const reason =
    'redis-server or valkey-server is needed: install the package redis-server, or set TOKENKEEP_TEST_REDIS';
  if (process.env['CI'] === 'true') throw new Error(reason);
  process.stderr.write(`SKIPPED: ${reason}\n`);
  return context.skip();
}

async function accepts(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

export async function startTestRedis(program: string): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-redis-'));
  const port = await freePort();
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const flags = { bind: '127.0.0.1', port, dir: folder, save: '', appendonly: 'no', requirepass: PASSWORD };
    const argv = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
    server = spawn(program, argv, { stdio: 'ignore' });
    await eventually(() => accepts(port));
  }

  async function kill(): Promise<void> {
    if (server === undefined) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
    server = undefined;
  }

  await start();
  return {
    url: `redis://:${PASSWORD}@127.0.0.1:${port}`,
    ...{ start, kill },
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
