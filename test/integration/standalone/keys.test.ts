import { expect } from 'chai';
import { createStandaloneFolder, type StandaloneFolder } from '../../support/standalone-folder.ts';
import { runProgram, SAMPLES, startStandalone, type Ended, type StandaloneProgram } from '../../support/standalone.ts';

/** Each step goes on where the one before it ended. */
describe('commands about keys, beside a standalone', function () {
  this.timeout(120_000);
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;
  let key: string;

  const keys = (...words: string[]): Promise<Ended> => runProgram(['keys', ...words, '--data-dir', folder.dataDir]);

  before(async () => {
    folder = await createStandaloneFolder(SAMPLES);
    vault = await startStandalone(folder);
    key = await vault.keyOf('payments');
    const body = { id: 'kept', type: 'token', data: 'kept' };
    expect((await vault.request('POST', '/tokens', { key, body })).status).to.equal(201);
  });
  after(async () => {
    await vault?.kill();
    await folder?.dispose();
  });

  it('show that all is well', async () => {
    const { code, stdout, stderr } = await keys('status');
    expect(stdout).to.match(
      /^MASTER KEY +CURRENT +SINCE +OLDEST +DATA KEYS +OLDEST ACTIVE\ntokens +v1 +\d+s +v1 +v1: \d/,
    );
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  it('leave a master key that is young enough, and rotate it when told to', async () => {
    const young = await keys('rotate', '--if-older-than', '90d');
    expect(young.stdout).to.include('stays at v1');
    expect(young.code).to.equal(0);
    const rotated = await keys('rotate');
    expect(rotated.stdout).to.include('is at v2').and.include('Next: tokenkeep keys rewrap');
    expect(rotated.code).to.equal(0);
  });

  it('ask for what is left to do, with another exit code', async () => {
    const { code, stdout } = await keys('status');
    expect(stdout).to.match(/^! \d+ data keys are wrapped under older versions of tokens: run tokenkeep keys rewrap$/m);
    expect(code).to.equal(1);
  });

  it('rewrap and retire beside the vault, which follows its keyring', async () => {
    const { code, stdout, stderr } = await keys('rewrap', '--retire');
    expect(stderr).to.match(/^rewrapped 0 of \d+ data keys\nrewrapped (\d+) of \1 data keys\n$/);
    expect(stdout).to.include('rewrapped under v2').and.include('make a new one');
    expect(code).to.equal(0);
    expect((await vault.request('GET', '/tokens/kept', { key })).body.data).to.equal('kept');
    expect((await vault.request('POST', '/tokens', { key, body: { type: 'token', data: 'new' } })).status).to.equal(
      201,
    );
  });

  it('work on a vault that is stopped, which then finds everything again', async () => {
    await vault.stop();
    const { code, stdout } = await keys('status');
    expect(stdout).to.match(/^tokens +v2 +\S+ +v2 +v2: \d/m);
    expect(code).to.equal(0);
    vault = await startStandalone(folder);
    expect((await vault.request('GET', '/tokens/kept', { key })).body.data).to.equal('kept');
  });

  it('refuse a folder without a vault, and a flag that they do not have', async () => {
    const nothing = await runProgram(['keys', 'status', '--data-dir', `${folder.root}/nothing`]);
    expect(nothing.stderr).to.include('holds no vault: give its --data-dir');
    expect(nothing.code).to.equal(1);
    expect((await keys('status', '--retire')).code).to.equal(2);
  });
});
