import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createStandaloneFolder, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { runProgram, SAMPLES, startStandalone, type StandaloneProgram } from '../../support/standalone.ts';

const isRoot = process.getuid?.() === 0;

describe('a data folder', function () {
  this.timeout(60_000);
  let folder: StandaloneFolder;
  let vault: StandaloneProgram | undefined;

  beforeEach(async () => {
    folder = await createStandaloneFolder(SAMPLES);
  });
  afterEach(async () => {
    await vault?.kill();
    vault = undefined;
    await folder.dispose();
  });

  it('works below a folder that only root can enter, at every start', async function () {
    if (!isRoot) this.skip();
    await mkdir(join(folder.root, 'home'), { mode: 0o700 });
    const dataDir = join(folder.root, 'home', 'data');
    const start = () => startStandalone({ ...folder, dataDir });
    folder = { ...folder, dataDir };

    vault = await start();
    expect((await lstat(join(dataDir, 'postgres'))).isSymbolicLink()).to.equal(true);
    const key = await vault.keyOf('payments');
    const body = { id: 'kept', type: 'token', data: 'kept' };
    expect((await vault.request('POST', '/tokens', { key, body })).status).to.equal(201);
    await vault.kill();

    vault = await start();
    expect((await vault.request('GET', '/tokens/kept', { key })).body.data).to.equal('kept');
    expect((await vault.stop()).code).to.equal(0);
  });

  describe('over a database that lies elsewhere', () => {
    let test: TestDatabase;
    const start = (manifests?: string) =>
      startStandalone({
        dataDir: folder.dataDir,
        ...(manifests === undefined ? {} : { manifests }),
        flags: ['--database-url', test.connectionString],
      });
    const status = () => runProgram(['status', '--data-dir', folder.dataDir]);

    beforeEach(async () => {
      test = await createTestDatabase();
    });
    afterEach(async () => {
      await vault?.kill();
      await test.dispose();
    });

    it('is made on a start without manifests, with nothing declared, and is left unlocked', async () => {
      vault = await start();
      expect(vault.output().stdout).to.include('none (--manifests DIR)').and.not.include('curl');
      expect((await vault.request('GET', '/tokens')).status).to.equal(401);
      const { code, stdout } = await status();
      expect([code, stdout.trim()]).to.deep.equal([0, 'Nothing is declared']);
      await vault.stop();
      expect((await readdir(folder.dataDir)).sort()).to.deep.equal(['keyring.json', 'secrets', 'status.json']);
    });

    it('keeps what was declared on a start without manifests, and loses it to an empty folder', async () => {
      vault = await start(folder.manifests);
      const key = await vault.keyOf('payments');
      const admin = await vault.keyOf('admin');
      await vault.stop();

      vault = await start();
      expect((await vault.request('GET', '/tokens', { key })).status).to.equal(200);
      const { body } = await vault.request('GET', '/reactors', { key: admin });
      const reacted = await vault.request('POST', `/reactors/${body.data[0].id}/react`, {
        key,
        body: { args: { card: '4242424242424242' } },
      });
      expect(reacted.body.raw).to.deep.equal({ brand: 'visa', last4: '4242' });
      expect((await status()).code).to.equal(0);
      await vault.stop();

      const empty = join(folder.root, 'empty');
      await mkdir(empty);
      vault = await start(empty);
      expect((await vault.request('GET', '/tokens', { key })).status).to.equal(401);
      expect(await readdir(join(folder.dataDir, 'secrets'))).to.deep.equal([]);
    });
  });
});
