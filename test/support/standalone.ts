import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { descendantsOf, isRunning, type ProcessIdentity } from './processes.ts';
import { keepOutput } from './run-canaries.ts';
import { eventually } from './eventually.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'src', 'main.ts');

/** One resource of each kind, and the applications of the README. */
export const SAMPLES = join(ROOT, 'config', 'samples');

const READY_DEADLINE_MS = 60_000;
/** What is promised between SIGTERM and the exit. */
const STOP_DEADLINE_MS = 10_000;
const GONE_DEADLINE_MS = 10_000;

/** What a program left behind when it ended by itself. */
export interface Ended {
  /** Null where a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Answer {
  status: number;
  /** Parsed JSON; text of any other type. */
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- answers are looked into freely
}

export interface RequestOptions {
  key?: string;
  body?: unknown;
  /** Sent as it is, in the place of `body`. */
  rawBody?: string;
  headers?: Record<string, string>;
}

/** The real program in a process of its own. */
export interface StandaloneProgram {
  readonly baseUrl: string;
  readonly metricsUrl: string;
  readonly pid: number;
  readonly dataDir: string;
  /** What it has printed so far. */
  output(): { stdout: string; stderr: string };
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** The key of an application of the namespace `default`, from its Secret. */
  keyOf(application: string): Promise<string>;
  /** SIGTERM; resolves once it and every process that it started are gone. */
  stop(): Promise<Ended & { elapsedMs: number }>;
  /** SIGKILL, as a power cut for it; resolves once it and every process that it started are gone. */
  kill(): Promise<void>;
  /** SIGKILL without looking after what it started. */
  crash(): Promise<void>;
  /** Resolves once it has ended by itself. */
  ended(): Promise<Ended>;
}

export interface ProgramOptions {
  dataDir: string;
  manifests?: string;
  /** Of the API; a free one by default. */
  port?: string;
  /** Further flags. */
  flags?: string[];
  env?: Record<string, string>;
  /** Where it may write core files of any size; by default it may not. */
  coreFolder?: string;
}

interface Spawned {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  /** Resolves with the exit code once all output is read. */
  ended: Promise<number | null>;
}

function spawnProgram(args: readonly string[], env: Record<string, string> = {}, coreFolder?: string): Spawned {
  const limit = coreFolder === undefined ? 'ulimit -c 0' : 'ulimit -c unlimited';
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, ...args];
  const child = spawn('/bin/sh', ['-c', `${limit}; exec "$@"`, 'sh', ...program], {
    cwd: coreFolder ?? ROOT,
    // Nothing of this process's own settings, which may be those of a vault.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that fails half-way must not leave a vault behind.
  const killChild = (): void => void child.kill('SIGKILL');
  process.once('exit', killChild);
  child.once('exit', () => process.off('exit', killChild));
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

function argumentsOf({ dataDir, manifests, port = '0', flags = [] }: ProgramOptions): string[] {
  const declared = manifests === undefined ? [] : ['--manifests', manifests];
  return ['standalone', '--port', port, '--metrics-port', '0', '--data-dir', dataDir, ...declared, ...flags];
}

/** Starts standalone where it is expected to end by itself. */
export function runStandalone(options: ProgramOptions): Promise<Ended> {
  return runProgram(argumentsOf(options), options.env);
}

/** Starts standalone on free ports; resolves with its `ready` line. */
export async function startStandalone(options: ProgramOptions): Promise<StandaloneProgram> {
  const { dataDir } = options;
  const { child, output, ended } = spawnProgram(argumentsOf(options), options.env, options.coreFolder);
  const baseUrl = await readyLine(child, output);
  const metricsUrl = /^\s+Metrics\s+(\S+)$/m.exec(output.stdout)?.[1] ?? '';
  const pid = child.pid!;

  async function signal(name: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const started = descendantsOf(pid);
    child.kill(name);
    const code = await ended;
    await eventually(() => expect(started.filter(isRunning).map(describeProcess)).to.deep.equal([]), {
      deadlineMs: GONE_DEADLINE_MS,
    });
    return code;
  }

  return {
    ...{ baseUrl, metricsUrl, pid, dataDir },
    output: () => ({ ...output }),
    request: (method, path, request) => send(baseUrl + path, method, request),
    keyOf: (application) => readKey(dataDir, application),
    async stop() {
      const begin = Date.now();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
      const code = await signal('SIGTERM');
      clearTimeout(timer);
      return { code, ...output, elapsedMs: Date.now() - begin };
    },
    async kill() {
      await signal('SIGKILL');
    },
    async crash() {
      child.kill('SIGKILL');
      await ended;
    },
    ended: async () => ({ code: await ended, ...output }),
  };
}

async function readyLine(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<string> {
  const deadline = Date.now() + READY_DEADLINE_MS;
  for (;;) {
    const url = /^ready (\S+)$/m.exec(output.stdout)?.[1];
    if (url !== undefined) return url;
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`standalone did not become ready:\n${output.stdout}\n${output.stderr}`);
    }
    await delay(10);
  }
}

async function send(url: string, method: string, options: RequestOptions = {}): Promise<Answer> {
  const { key, body, rawBody, headers = {} } = options;
  const content = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { 'svc-api-key': key }),
      ...(content === undefined ? {} : { 'content-type': contentType }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** Once it is there: Secrets are written a moment after their documents. */
function readKey(dataDir: string, application: string): Promise<string> {
  return eventually(() => readFile(keyFileOf(dataDir, application), 'utf8'));
}

export function keyFileOf(dataDir: string, application: string): string {
  return join(dataDir, 'secrets', 'default', `${application}-api-key`, 'api-key');
}

const describeProcess = ({ pid, command }: ProcessIdentity): string => `${pid} ${command}`;
