import { spawn, type ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { BinariesFolder } from './binaries.ts';
import { findRunningServer } from './running.ts';
import { asUser, type ServerUser } from './server-user.ts';

/** For one machine; durable, and with nothing in its own log that a statement carried. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Only what the server says about itself: errors of statements would bring their text and values along.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  logging_collector: 'off',
} as const;

/**
 * Stops Postgres (SIGINT: at once, rolling back what is open) when standard input ends, which also happens when this
 * process is killed. File descriptor 3 keeps it, since a job in the background has none.
 */
const WATCHED = `
exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ read -r _ <&3; kill -INT "$server"; } & watch=$!
wait "$server"; status=$?
kill "$watch" 2>/dev/null
exit "$status"`;

const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 8_000;
const PREVIOUS_DEADLINE_MS = 30_000;

export interface ServerOptions {
  readonly binaries: BinariesFolder;
  readonly folder: string;
  readonly logFile: string;
  readonly user: ServerUser | undefined;
}

export interface Server {
  readonly port: number;
  /** Resolves when the process has ended, asked to or not. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

/** Starts Postgres on a free port of 127.0.0.1; resolves once it accepts connections. */
export async function startServer(options: ServerOptions, connectionString: (port: number) => string): Promise<Server> {
  await awaitPrevious(options.folder);
  const port = await freePort();
  const child = await spawnServer(options, port);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const server: Server = { port, exited, stop: () => stopServer(child, exited) };
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!(await accepts(connectionString(port)))) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      await server.stop();
      throw new Error(`Postgres did not start in ${options.folder}: ${await lastLines(options.logFile)}`);
    }
    await delay(50);
  }
  return server;
}

async function spawnServer({ binaries, folder, logFile, user }: ServerOptions, port: number): Promise<ChildProcess> {
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = await open(logFile, 'w', 0o600);
  try {
    return spawn(
      '/bin/sh',
      ['-c', WATCHED, 'sh', join(binaries, 'bin', 'postgres'), '-D', folder, ...settings],
      // In a process group of its own: Ctrl-C in a terminal reaches this process only, which stops Postgres last.
      { ...asUser(user), cwd: '/', env: { PATH: '/usr/bin:/bin' }, stdio: ['pipe', log.fd, log.fd], detached: true },
    );
  } finally {
    await log.close();
  }
}

async function stopServer(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.stdin?.end();
  // Past the deadline without waiting for anything; the next start recovers from the log.
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGQUIT'), STOP_DEADLINE_MS);
  await exited;
  clearTimeout(timer);
}

/** After a kill the last server is still writing its final checkpoint: two on one folder would destroy it. */
async function awaitPrevious(folder: string): Promise<void> {
  const deadline = Date.now() + PREVIOUS_DEADLINE_MS;
  for (;;) {
    const running = await findRunningServer(folder);
    if (running === undefined) return;
    if (Date.now() > deadline) {
      throw new Error(`a Postgres (process ${running.pid}) is still running on ${folder}: stop it and start again`);
    }
    await delay(100);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function accepts(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function lastLines(file: string): Promise<string> {
  const lines = await readFile(file, 'utf8').catch(() => '');
  return lines.trim().split('\n').slice(-5).join(' / ') || 'it said nothing';
}
