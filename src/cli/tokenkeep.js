#!/usr/bin/env node
// The `tokenkeep` command. The program runs on Node 24, whose binary is an npm dependency, so this file alone must run
// on whatever Node the machine has, and is JavaScript for that reason.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// isolated-vm ships binaries for one major version, so a later Node is no substitute.
const NODE_MAJOR = 24;

const here = fileURLToPath(import.meta.url);
const root = join(dirname(here), '..', '..');
// Node refuses to strip types under node_modules.
const installed = here.split(sep).includes('node_modules');
const main = installed ? join(root, 'dist', 'main.js') : join(root, 'src', 'main.ts');

if (Number(process.versions.node.split('.')[0]) === NODE_MAJOR) {
  await import(pathToFileURL(main).href);
} else {
  const node = packagedNode();
  if (node === undefined) {
    const advice = installed ? 'reinstall tokenkeep with install scripts allowed' : 'run `make install`';
    process.stderr.write(`tokenkeep needs Node ${NODE_MAJOR}, this is ${process.versions.node}: ${advice}\n`);
    process.exitCode = 1;
  } else {
    runWith(node);
  }
}

/** The binary that the npm package `node` put in place, unless its install script has not run. */
function packagedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json');
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

/** The channel tells the child when this process is gone, even by SIGKILL: the vault must not run on unattended. */
function runWith(node) {
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`tokenkeep cannot run ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
