import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MODULES = join(ROOT, 'node_modules');

/** Loads code in a process behind its walls, and runs it once. */
const PROGRAM = `
const { Sandbox } = await import(process.argv[1]);
const sandbox = new Sandbox(256 * 2 ** 20, 5000);
const verdict = await sandbox.load('module.exports = async () => ({ raw: 42 });', 5000);
const log = { take: () => true, omit() {} };
const request = JSON.stringify({ args: {}, configuration: {} });
const settled = verdict.type === 'loaded' && (await sandbox.run({ request, wallMs: 5000, svc: false, calls: async () => '', log }));
console.log(JSON.stringify({ verdict, settled }));
await sandbox.kill();`;

describe('the code of a reactor, by links among packages', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tokenkeep-linked-')));
    await cp(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
    await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function runsCode(): Promise<void> {
    const sandbox = join(folder, 'src/reactors/host/sandbox.ts');
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM, sandbox]);
    const { verdict, settled } = JSON.parse(stdout) as { verdict: object; settled: object };
    expect(verdict).to.deep.equal({ type: 'loaded' });
    expect(settled).to.include({ type: 'returned' });
  }

  it('runs where the folder of packages is a link', async () => {
    await symlink(MODULES, join(folder, 'node_modules'));
    await runsCode();
  });

  it('runs where each package is a link into a store, as pnpm has it', async () => {
    await mkdir(join(folder, 'node_modules'));
    const linkIn = (name: string, target: string) => symlink(target, join(folder, 'node_modules', name));
    const others = (await readdir(MODULES)).filter((name) => name !== 'isolated-vm' && name !== 'node-gyp-build');
    for (const name of others) await linkIn(name, join(MODULES, name));
    // Nobody but the addon itself finds the package that it needs.
    const stored = (name: string) => join(folder, 'store', name, 'node_modules', name);
    for (const name of ['isolated-vm', 'node-gyp-build']) {
      await cp(join(MODULES, name), stored(name), { recursive: true });
    }
    await symlink(stored('node-gyp-build'), join(folder, 'store/isolated-vm/node_modules/node-gyp-build'));
    await linkIn('isolated-vm', stored('isolated-vm'));
    await runsCode();
  });
});
