import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { confinedShell, confinement } from './confinement.ts';
import { limitStatements, limitedCommand } from './process-limits.ts';

const SOURCE = fileURLToPath(import.meta.url);
const EXTENSION = SOURCE.endsWith('.ts') ? '.ts' : '.js';
const CHILD_FOLDER = fileURLToPath(new URL('./child/', import.meta.url));

/** What Node and V8 take of RLIMIT_DATA before a byte of the guest's is kept, with room to start. */
const BASE_DATA_MB = 112;
/** What the supervisor keeps beside its child, most of the time; at its peak, 113 MB were seen. A pod has room for that. */
const SUPERVISOR_MB = 64;
const MIN_DATA_MB = 160;

/** Bounds of a child that follow from the memory of an instance. */
export interface MemoryPlan {
  /** RLIMIT_DATA: the bound that holds, whatever allocates. */
  dataMb: number;
  /** The isolate's own limit: not a bound, but a softer failure than the other. */
  heapMb: number;
}

export function planMemory(instanceBytes: number): MemoryPlan {
  const dataMb = Math.max(Math.floor(instanceBytes / 2 ** 20) - SUPERVISOR_MB, MIN_DATA_MB);
  return { dataMb, heapMb: Math.max(Math.floor((dataMb - BASE_DATA_MB) * 0.6), 16) };
}

/**
 * Starts a process that can do next to nothing: bounded memory, no core file, no JIT and so no WebAssembly, no
 * environment, no files but the libraries that it loads, no child processes, no debugger, pipes for a mouth. Where the
 * system has namespaces for it, no network and no other processes either.
 */
export function spawnChild(plan: MemoryPlan): ChildProcessWithoutNullStreams {
  return spawnWalled(plan, [...typeScriptLoader(), `${CHILD_FOLDER}main${EXTENSION}`]);
}

/** Starts a program of ours behind the walls of the code's process: `program` are arguments to Node. */
export function spawnWalled(
  { dataMb }: MemoryPlan,
  program: readonly string[],
  readable: readonly string[] = readableByChild(),
): ChildProcessWithoutNullStreams {
  const executable = realpathSync(process.execPath);
  const node = [
    executable,
    '--no-node-snapshot',
    '--jitless',
    '--disable-sigusr1',
    '--disable-proto=delete',
    '--no-warnings',
    '--permission',
    // The permissions do not bind SQLite, which opens files by itself.
    '--no-experimental-sqlite',
    '--allow-addons',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...program,
  ];
  const [file, ...args] =
    confinement() === 'namespaces'
      ? ['/bin/sh', ...confinedShell(limitStatements(dataMb), [executable, ...readable], node)]
      : limitedCommand(dataMb, node);
  return spawn(file, args, { env: {}, cwd: '/', stdio: 'pipe' });
}

/** The native addon, the loader that finds it and the file by which that loader tells libc's kind, and our program. */
function readableByChild(): string[] {
  const require = createRequire(import.meta.url);
  const addon = require.resolve('isolated-vm/package.json');
  const loader = createRequire(addon).resolve('node-gyp-build/package.json');
  return [dirname(addon), dirname(loader), '/etc/alpine-release', CHILD_FOLDER];
}

/**
 * Node takes the types out of TypeScript by WebAssembly, which a process without JIT does not have. From a checkout,
 * the supervisor does it for its child and hands the result over in a module of the command line; a build has no types.
 */
function typeScriptLoader(): string[] {
  if (EXTENSION === '.js') return [];
  const sources = Object.fromEntries(
    readdirSync(CHILD_FOLDER).map((name) => [
      pathToFileURL(CHILD_FOLDER + name).href,
      stripTypeScriptTypes(readFileSync(CHILD_FOLDER + name, 'utf8')),
    ]),
  );
  const hook = `import { registerHooks } from 'node:module';
const sources = ${JSON.stringify(sources)};
registerHooks({ load: (url, context, next) =>
  url in sources ? { format: 'module', source: sources[url], shortCircuit: true } : next(url, context) });`;
  return ['--import', `data:text/javascript;base64,${Buffer.from(hook).toString('base64')}`];
}
