import { once } from 'node:events';
import { chmod, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createStandaloneFolder, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { runProgram, runStandalone, startStandalone } from '../../support/standalone.ts';

const OWNER = {
  kind: 'Application',
  name: 'owner',
  spec: {
    type: 'private',
    permissions: ['token:create'],
    rules: [{ description: 'All', priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
  },
};

describe('standalone refuses', function () {
  this.timeout(60_000);
  let folder: StandaloneFolder;

  beforeEach(async () => {
    folder = await createStandaloneFolder();
  });
  afterEach(() => folder.dispose());

  it('bad settings, all of them at once, before it touches anything', async () => {
    const flags = ['--log-level', 'loud', '--host', 'not a host', '--vault-addr', 'http://vault.example', '--colour'];
    const { code, stdout, stderr } = await runStandalone({
      dataDir: folder.dataDir,
      port: '70000',
      manifests: join(folder.root, 'nowhere'),
      flags,
      env: { TOKENKEEP_DATABASE_URL: 'mysql://user:secret-password@host/db' },
    });
    expect(code).to.equal(2);
    expect(stdout).to.equal('');
    for (const name of ['--port', '--log-level', '--host', '--vault-addr', '--colour', '--manifests']) {
      expect(stderr).to.include(name);
    }
    expect(stderr).to.include('TOKENKEEP_DATABASE_URL').and.not.include('secret-password');
    expect(await realpath(folder.dataDir).catch(() => 'missing')).to.equal('missing');
  });

  it('a database that does not answer, without its password', async () => {
    const databaseUrl = 'postgres://user:secret-password@127.0.0.1:1/db';
    const { code, stdout, stderr } = await runStandalone({ ...folder, flags: ['--database-url', databaseUrl] });
    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/database|Postgres/i)
      .and.not.include('secret-password');
    expect(stdout).not.to.include('ready');
  });

  describe('a database', () => {
    let test: TestDatabase;
    const start = () => startStandalone({ ...folder, flags: ['--database-url', test.connectionString] });
    const refused = () => runStandalone({ ...folder, flags: ['--database-url', test.connectionString] });
    const keyring = () => join(folder.dataDir, 'keyring.json');

    beforeEach(async () => {
      test = await createEmptyDatabase();
      await folder.write('owner.yaml', [OWNER]);
    });
    afterEach(() => test.dispose());

    it('beside a status that is damaged, and says what to do', async () => {
      await mkdir(folder.dataDir);
      await writeFile(join(folder.dataDir, 'status.json'), '{"resources": [');
      const { code, stderr } = await refused();
      expect(code).to.equal(1);
      expect(stderr).to.include('status.json is damaged');
    });

    it('on a port that is taken, and names the flag', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const { code, stderr } = await runStandalone({
        ...folder,
        port: String(port),
        flags: ['--database-url', test.connectionString],
      });
      other.close();
      expect(code).to.equal(1);
      expect(stderr).to.include(`127.0.0.1:${port} is in use by another program; choose another with --port`);
    });

    it('with another keyring than the one that its data are sealed under', async () => {
      const vault = await start();
      const key = await vault.keyOf('owner');
      const body = { id: 'kept', type: 'token', data: 'kept' };
      expect((await vault.request('POST', '/tokens', { key, body })).status).to.equal(201);
      expect(await realpath(join(folder.dataDir, 'postgres')).catch(() => 'missing')).to.equal('missing');
      expect((await vault.stop()).code).to.equal(0);

      const original = await readFile(keyring(), 'utf8');
      await rename(keyring(), `${keyring()}.away`);
      const missing = await refused();
      expect(missing.code).to.equal(1);
      expect(missing.stderr).to.include(
        `tokenkeep: the keyring ${keyring()} is missing, and the database holds data sealed under it: restore it`,
      );
      expect(await realpath(keyring()).catch(() => 'missing')).to.equal('missing');

      await writeFile(keyring(), original.slice(0, -20), { mode: 0o600 });
      const damaged = await refused();
      expect(damaged.code).to.equal(1);
      expect(damaged.stderr).to.include(`the keyring ${keyring()} is damaged: restore it from a backup`);

      await writeFile(keyring(), original);
      await chmod(keyring(), 0o644);
      const open = await refused();
      expect(open.code).to.equal(1);
      expect(open.stderr).to.include('is open to other users: run chmod 600');

      await chmod(keyring(), 0o600);
      const again = await start();
      const kept = await again.request('GET', '/tokens/kept', { key });
      await again.stop();
      expect(kept.body.data).to.equal('kept');
    });
  });

  it('to show the status of a folder that is none of its own', async () => {
    await rm(folder.dataDir, { recursive: true, force: true });
    const { code, stdout } = await runProgram(['status', '--data-dir', folder.dataDir]);
    expect(code).to.equal(1);
    expect(stdout).to.include(`No status in ${folder.dataDir}`);
  });
});
