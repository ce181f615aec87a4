import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepOutput } from '../run-canaries.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const MAIN = file('../../../src/main.ts');
const STANDBY = file('./crash-standby.ts');
const CLOCK_SHIFT = file('./clock-shift.ts');

export interface OperatorProcessOptions {
  /** Of `tokenkeep operator`. */
  readonly flags: readonly string[];
  /** How far its wall clock goes ahead of the machine's, in ms; less than 0 is behind. */
  readonly clockShiftMs?: number;
  /** Further options of Node. */
  readonly nodeFlags?: readonly string[];
}

/** `tokenkeep operator` in a process of its own. */
export interface OperatorProcess {
  readonly pid: number;
  /** What it has printed so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Its exit code, once it has ended; null where a signal ended it. */
  readonly ended: Promise<number | null>;
}

function spawnOperator(options: OperatorProcessOptions, isStandby: boolean): OperatorProcess & { child: ChildProcess } {
  const { flags, clockShiftMs = 0, nodeFlags = [] } = options;
  const preloads = [...(clockShiftMs === 0 ? [] : [CLOCK_SHIFT]), ...(isStandby ? [STANDBY] : [])];
  const imports = preloads.flatMap((preload) => ['--import', preload]);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...nodeFlags, ...imports, MAIN, 'operator', ...flags],
    {
      // Nothing of this process's own settings.
      env: {
        ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
        TEST_CLOCK_SHIFT_MS: String(clockShiftMs),
        // Starts are what tests that kill spend their time on.
        NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  // A test that fails half-way must not leave an operator behind.
  const killChild = (): void => void child.kill('SIGKILL');
  process.once('exit', killChild);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killChild);
    keepOutput('output-of-programs', output);
    return code as number | null;
  });
  return { child, pid: child.pid!, output: () => output, signal: (name) => void child.kill(name), ended };
}

export function startOperatorProcess(options: OperatorProcessOptions): OperatorProcess {
  return spawnOperator(options, false);
}

/** Operators one after another, each in a process that was loaded while the one before it still ran. */
export interface OperatorRelay {
  readonly current: OperatorProcess;
  /** Ends the current one as `kill -9` does. */
  kill(): void;
  /** Has the next one go on, as soon as the current one has ended. */
  next(): Promise<void>;
  stop(): Promise<void>;
}

export function startOperatorRelay(options: OperatorProcessOptions): OperatorRelay {
  let standby = spawnOperator(options, true);
  const release = (): OperatorProcess => {
    const released = standby;
    released.child.stdin?.end('go\n');
    standby = spawnOperator(options, true);
    return released;
  };
  let current = release();
  return {
    get current() {
      return current;
    },
    kill: () => current.signal('SIGKILL'),
    async next() {
      await current.ended;
      current = release();
    },
    async stop() {
      for (const each of [current, standby]) each.signal('SIGKILL');
      await Promise.all([current.ended, standby.ended]);
    },
  };
}
