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
  return spawnWalled(plan, [...moduleHooks(), `${CHILD_FOLDER}main${EXTENSION}`]);
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

/** The native addon and our program. */
function readableByChild(): string[] {
  return [addonFile(), CHILD_FOLDER];
}

let addon: string | undefined;

/** The one file for this system and this Node, wherever links of a package manager lead; looked for once. */
function addonFile(): string {
  return (addon ??= findAddon());
}

function findAddon(): string {
  const folder = dirname(createRequire(import.meta.url).resolve('isolated-vm/package.json'));
  const loader = createRequire(`${folder}/`)('node-gyp-build') as { path(folder: string): string };
  return realpathSync(loader.path(folder));
}

/**
 * A module of the command line by which the child finds what it imports. The addon is that one file: the packages
 * around it, and the links among them, are none of what it may see. Node takes the types out of TypeScript by
 * WebAssembly, which a process without JIT does not have: from a checkout, the supervisor does it and hands the result
 * over; a build has no types.
 */
function moduleHooks(): string[] {
  const names = EXTENSION === '.ts' ? readdirSync(CHILD_FOLDER) : [];
  const sources = Object.fromEntries(
    names.map((name) => [
      pathToFileURL(CHILD_FOLDER + name).href,
      stripTypeScriptTypes(readFileSync(CHILD_FOLDER + name, 'utf8')),
    ]),
  );
  const addonSource = `const loaded = { exports: {} };
process.dlopen(loaded, ${JSON.stringify(addonFile())});
export default loaded.exports.ivm;`;
  const hooks = `import { registerHooks } from 'node:module';
const sources = ${JSON.stringify(sources)};
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'isolated-vm' ? { url: ${JSON.stringify(moduleUrl(addonSource))}, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url in sources ? { format: 'module', source: sources[url], shortCircuit: true } : next(url, context),
});`;
  return ['--import', moduleUrl(hooks)];
}

function moduleUrl(source: string): string {
  return `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
}
