import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { descendantsOf, isRunning, type ProcessIdentity } from './processes.ts';
import { eventually } from './eventually.ts';
import { runProgram, spawnProgram, type Ended } from './program.ts';

export { runProgram, type Ended } from './program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One resource of each kind, and the applications of the README. */
export const SAMPLES = join(ROOT, 'config', 'samples');

const READY_DEADLINE_MS = 60_000;
/** What is promised between SIGTERM and the exit. */
const STOP_DEADLINE_MS = 10_000;
const GONE_DEADLINE_MS = 10_000;

export interface Answer {
  status: number;
  headers: Headers;
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
  const { status, headers: answered } = response;
  return { status, headers: answered, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** Once it is there: Secrets are written a moment after their documents. */
function readKey(dataDir: string, application: string): Promise<string> {
  return eventually(() => readFile(keyFileOf(dataDir, application), 'utf8'));
}

export function keyFileOf(dataDir: string, application: string): string {
  return join(dataDir, 'secrets', 'default', `${application}-api-key`, 'api-key');
}

const describeProcess = ({ pid, command }: ProcessIdentity): string => `${pid} ${command}`;
