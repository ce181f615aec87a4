import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { JsonObject } from '../../../src/domain/json.ts';
import { createHttpClient } from '../http-client.ts';
import type { Contestant } from './contestant.ts';
import { CODE } from './task.ts';

const VERSION = '1.20261117.1';
const COMPATIBILITY_DATE = '2026-01-01';

const run = promisify(execFile);

const SERVED = `const module = { exports: undefined };
${CODE}
const run = module.exports;
export default {
  async fetch(request) {
    return Response.json(await run(await request.json()));
  },
};
`;

/** Runs each request in a Worker that it loads for it, in an isolate that there was not before. */
const LOADER = `let made = 0;
export default {
  async fetch(request, env) {
    const { code, body } = await request.json();
    const worker = env.LOADER.get(String(made += 1), () => ({
      compatibilityDate: '${COMPATIBILITY_DATE}',
      mainModule: 'main.js',
      modules: { 'main.js': code },
    }));
    return worker.getEntrypoint().fetch('http://worker/', { method: 'POST', body: JSON.stringify(body) });
  },
};
`;

const CONFIGURATION = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "served", worker = (
      compatibilityDate = "${COMPATIBILITY_DATE}",
      modules = [(name = "served.js", esModule = embed "served.js")],
    )),
    (name = "loader", worker = (
      compatibilityDate = "${COMPATIBILITY_DATE}",
      modules = [(name = "loader.js", esModule = embed "loader.js")],
      bindings = [(name = "LOADER", workerLoader = ())],
    )),
  ],
  sockets = [
    (name = "served", address = "127.0.0.1:0", http = (), service = "served"),
    (name = "loader", address = "127.0.0.1:0", http = (), service = "loader"),
  ],
);
`;

export interface Workerd extends Contestant {
  readonly pid: number;
  /** Runs the function in an isolate that is made for this call. */
  runCold(args: JsonObject): Promise<unknown>;
}

/**
 * Installs the program from npm, outside of the checkout, where another checkout finds it: it is larger than all else
 * that a checkout needs.
 *
 * @returns its path; undefined on a platform that there is no binary for
 */
export async function installWorkerd(): Promise<string | undefined> {
  const platform = `${process.platform}-${process.arch === 'x64' ? '64' : process.arch}`;
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tokenkeep', 'tools');
  const home = join(cache, `workerd-${VERSION}`);
  const path = join(home, 'node_modules', '@cloudflare', `workerd-${platform}`, 'bin', 'workerd');
  const isThere = () =>
    access(path).then(
      () => true,
      () => false,
    );
  if (await isThere()) return path;
  await mkdir(home, { recursive: true });
  await run('npm', ['install', '--prefix', home, '--no-save', '--ignore-scripts', '--silent', `workerd@${VERSION}`]);
  return (await isThere()) ? path : undefined;
}

/** Cloudflare's runtime of Workers, serving the function over HTTP. */
export async function startWorkerd(binary: string): Promise<Workerd> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tokenkeep-bench-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'served.js'), SERVED);
  await writeFile(join(folder, 'loader.js'), LOADER);
  await writeFile(join(folder, 'config.capnp'), CONFIGURATION);
  const child = spawn(binary, ['serve', '--experimental', '--control-fd=3', join(folder, 'config.capnp')], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  undo.defer(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  const ports = await listening(child.stdio[3] as Readable, ['served', 'loader']);
  const [served, loader] = ports.map((port) => createHttpClient(`http://127.0.0.1:${port}`, 'none'));
  undo.defer(() => served!.close());
  undo.defer(() => loader!.close());
  const all = undo.move();
  return {
    name: 'workerd, over HTTP',
    pid: child.pid!,
    run: (args) => served!.send('POST', '/', { status: 200, body: { args, configuration: {} } }),
    runCold: (args) =>
      loader!.send('POST', '/', { status: 200, body: { code: SERVED, body: { args, configuration: {} } } }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** workerd writes one JSON line a socket to its control descriptor, once it listens. */
async function listening(control: Readable, sockets: readonly string[]): Promise<number[]> {
  const ports = new Map<string, number>();
  let text = '';
  for await (const chunk of control.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop()!;
    for (const line of lines) {
      const { socket, port } = JSON.parse(line) as { socket: string; port: number };
      ports.set(socket, port);
    }
    if (sockets.every((socket) => ports.has(socket))) return sockets.map((socket) => ports.get(socket)!);
  }
  throw new Error('workerd ended before it listened');
}
