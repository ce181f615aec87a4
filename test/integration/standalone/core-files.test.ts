import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createCanaryScanner } from '../../support/canary.ts';
import { eventually } from '../../support/eventually.ts';
import { descendantsOf } from '../../support/processes.ts';
import { plantedCanary, scanForCanaries } from '../../support/run-canaries.ts';
import { createStandaloneFolder, UNLIMITED_TENANT, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { SAMPLES, startStandalone, type StandaloneProgram } from '../../support/standalone.ts';

const CODE = 'module.exports = async ({ args }) => { globalThis.kept = args.card; return { raw: args.card.length }; };';

describe('processes that crash', function () {
  this.timeout(180_000);

  const startedAt = Date.now();
  let folder: StandaloneFolder;
  let cores: string;
  let vault: StandaloneProgram;
  const secrets: Record<string, string> = {};

  const plant = (name: string): string => (secrets[name] = plantedCanary(name));
  const start = (): Promise<StandaloneProgram> =>
    startStandalone({ ...folder, coreFolder: cores, flags: ['--ip-rate-limits', 'off'] });

  before(async () => {
    folder = await createStandaloneFolder(SAMPLES);
    const spec = { code: CODE, applicationRef: { name: 'payments' } };
    await folder.write('more.yaml', [UNLIMITED_TENANT, { kind: 'Reactor', name: 'keeper', spec }]);
    cores = join(folder.root, 'cores');
    await mkdir(cores);
    vault = await start();
  });
  after(async () => {
    await vault.kill();
    await folder.dispose();
  });

  /** Has a card in the memory of every process that may ever have one. */
  async function useCard(name: string): Promise<void> {
    const key = await vault.keyOf('payments');
    const data = { number: plant(name) };
    const { status, body } = await vault.request('POST', '/tokens', { key, body: { type: 'card', data } });
    expect(status).to.equal(201);
    const list = { key, body: { tokens: [body.id] } };
    expect((await vault.request('POST', '/detokenize', list)).body.tokens[0].data.number).to.equal(data.number);
  }

  async function coreFilesIn(path: string): Promise<string[]> {
    return (await readdir(path)).filter((name) => name.startsWith('core'));
  }

  it('keep their memory out of core files, be those allowed to be of any size', async () => {
    for (const { pid, command } of [{ pid: vault.pid, command: 'vault' }, ...descendantsOf(vault.pid)]) {
      const filter = await readFile(`/proc/${pid}/coredump_filter`, 'utf8').catch(() => '00000000');
      expect(filter.trim(), command).to.equal('00000000');
    }
    expect(await readFile(`/proc/${vault.pid}/limits`, 'utf8')).to.match(/Max core file size\s+unlimited/);
  });

  it('leave no plaintext behind: killed vault, Postgres and children of reactors', async () => {
    await useCard('card of a vault that was ended by a fault');
    process.kill(vault.pid, 'SIGSEGV');
    await vault.ended();

    vault = await start();
    await useCard('card of a vault whose Postgres was killed');
    const postmaster = join(folder.dataDir, 'postgres', 'postmaster.pid');
    process.kill(Number((await readFile(postmaster, 'utf8')).split('\n')[0]), 'SIGKILL');
    await vault.ended();

    vault = await start();
    await useCard('card of a vault whose other processes were ended by faults');
    for (const { pid } of descendantsOf(vault.pid)) {
      try {
        process.kill(pid, 'SIGSEGV');
      } catch {
        // It ended with the one before it.
      }
    }
    await vault.ended();

    vault = await start();
    await useCard('card of a vault that was killed');
    await vault.kill();
    const { sightings, bytes, canaries } = await scanForCanaries(secrets, { folders: [folder.root], since: startedAt });
    expect(canaries).to.equal(4);
    expect(bytes).to.be.above(2 ** 24);
    expect(sightings).to.deep.equal([]);
    vault = await start();
  });

  it('would leave it there without that: what shows that core files are looked through', async function () {
    const secret = plant('secret of a process that keeps nothing out');
    const code =
      'globalThis.kept = process.argv[1] + "."; process.kill(process.pid, "SIGSEGV"); setInterval(() => 0, 1e3)';
    const control = join(folder.root, 'control');
    await mkdir(control);
    const script = 'ulimit -c unlimited; exec "$@"';
    const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, '-e', code, secret], { cwd: control });
    await once(child, 'exit');
    // Where the system hands core files to a program of its own, there are none to look through.
    const pattern = await readFile('/proc/sys/kernel/core_pattern', 'utf8');
    if (pattern.startsWith('|') || pattern.startsWith('/')) this.skip();
    const [file] = await eventually(async () => {
      const files = await coreFilesIn(control);
      expect(files).to.have.length(1);
      return files;
    });
    const scanner = createCanaryScanner({ secret });
    expect(scanner.scan('core file', await readFile(join(control, file!)))).not.to.deep.equal([]);
  });
});
