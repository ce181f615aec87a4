import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { printStatus } from '../status.ts';
import type { Screen } from './screen.ts';

/** The real program over a data folder of its own. */
export interface VaultProcess extends AsyncDisposable {
  readonly baseUrl: string;
  /** The key that the vault wrote for a declared application. */
  keyOf(application: string): Promise<string>;
}

export interface VaultProcessOptions {
  readonly manifests: string;
  readonly signal: AbortSignal;
  readonly screen: Screen;
}

const START_DEADLINE_MS = 90_000;
const DECLARED_DEADLINE_MS = 20_000;
/** Longer than the program itself takes to give up waiting. */
const STOP_DEADLINE_MS = 11_000;

/**
 * Starts the vault on a free port and waits until everything declared is Ready. Throws where the program ends before
 * that, with what it said, and where it takes too long.
 */
export async function startVaultProcess({ manifests, signal, screen }: VaultProcessOptions): Promise<VaultProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tokenkeep-demo-'));
  // Started as root, Postgres runs under another account, which must get to its files.
  await chmod(dataDir, 0o711);
  const child = spawnVault(manifests, dataDir);
  const close = async (): Promise<void> => {
    await end(child);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const began = Date.now();
    screen.line(`Starting a vault of its own in ${dataDir}: Postgres, API, operator, reactors …`);
    const baseUrl = await readyUrl(child, signal);
    await awaitDeclared(dataDir, signal, screen);
    screen.success(`ready at ${baseUrl} after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    return {
      baseUrl,
      keyOf: (application) =>
        readFile(join(dataDir, 'secrets', 'default', `${application}-api-key`, 'api-key'), 'utf8'),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function spawnVault(manifests: string, dataDir: string): ChildProcess {
  // TypeScript in a checkout, JavaScript after a build: the same ending as this very file.
  const main = fileURLToPath(new URL(`../../main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));
  const flags = ['--port', '0', '--metrics-port', '0', '--log-level', 'warn', '--log-format', 'pretty'];
  return spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      main,
      'standalone',
      '--manifests',
      manifests,
      '--data-dir',
      dataDir,
      ...flags,
    ],
    // No environment: settings of a vault of the user's own must not reach this one. The channel ends the vault when
    // this process is gone, however that happens; the group of its own leaves Ctrl-C to this process.
    { env: {}, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
}

/** The address that the program prints once it is ready. */
async function readyUrl(child: ChildProcess, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const complaints: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => complaints.push(line));
  const deadline = AbortSignal.timeout(START_DEADLINE_MS);
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line.slice('ready '.length));
    });
    child.once('error', reject);
    child.once('close', (code) => {
      reject(new Error(`the vault did not start, it ended with code ${code}:\n${complaints.join('\n')}`));
    });
    AbortSignal.any([signal, deadline]).addEventListener('abort', () => {
      reject(new Error(`the vault was not ready within ${START_DEADLINE_MS / 1000} s:\n${complaints.join('\n')}`));
    });
  });
}

/** Waits until every declaration is Ready, and shows them all. */
async function awaitDeclared(dataDir: string, signal: AbortSignal, screen: Screen): Promise<void> {
  const deadline = Date.now() + DECLARED_DEADLINE_MS;
  for (;;) {
    const tables: string[] = [];
    const code = await printStatus(dataDir, (text) => tables.push(text));
    if (code === 0 || Date.now() > deadline) screen.detail(`\n${tables.join('')}`);
    if (code === 0) return;
    if (Date.now() > deadline) throw new Error('not everything that is declared became Ready');
    await delay(100, undefined, { signal });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
  await exited;
  clearTimeout(timer);
}
