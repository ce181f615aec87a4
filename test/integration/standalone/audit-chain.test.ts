import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { createStandaloneFolder, type StandaloneFolder, UNLIMITED_TENANT } from '../../support/standalone-folder.ts';
import { type Ended, runProgram, SAMPLES, startStandalone, type StandaloneProgram } from '../../support/standalone.ts';

const NOTHING = 'Nothing was altered, removed, added or reordered.';

describe('the audit log of a vault on one machine', function () {
  this.timeout(180_000);
  let folder: StandaloneFolder;
  let vault: StandaloneProgram;

  const start = () => startStandalone({ ...folder, flags: ['--ip-rate-limits', 'off'] });
  const verify = (...flags: string[]): Promise<Ended> =>
    runProgram(['audit', 'verify', '--data-dir', folder.dataDir, ...flags]);

  before(async () => {
    folder = await createStandaloneFolder(SAMPLES);
    await folder.write('tenant.yaml', [UNLIMITED_TENANT]);
    vault = await start();
  });
  after(async () => {
    await vault.stop();
    await folder.dispose();
  });

  async function work(): Promise<void> {
    const key = await vault.keyOf('payments');
    for (let round = 0; round < 20; round++) {
      const body = { type: 'token', data: `data of ${round}` };
      const { status } = await vault.request('POST', '/tokens', { key, body });
      expect(status).to.equal(201);
    }
  }

  it('is chained while it runs, when it has stopped, after a kill, and by the one that is started then', async () => {
    await work();
    await eventually(
      async () => {
        const { code, stdout } = await verify();
        expect(stdout)
          .to.include(NOTHING)
          .and.to.match(/^[1-9]\d+ entries in /m);
        expect(code).to.equal(0);
      },
      { deadlineMs: 60_000 },
    );

    await vault.stop();
    const told = join(folder.root, 'vault.log');
    await writeFile(told, vault.output().stderr);
    expect(await readFile(told, 'utf8')).to.include('Audit chain head');
    const stopped = await verify('--anchors', told);
    expect(stopped.stdout).to.include(NOTHING);
    expect(stopped.stdout).to.include('Held against the heads of ');
    expect(stopped.stdout).to.include('No entry waits to be linked.');
    expect(stopped.stdout).not.to.include('not sealed yet');

    vault = await start();
    await work();
    await vault.kill();
    expect((await verify()).stdout).to.include(NOTHING);

    vault = await start();
    await eventually(
      async () => {
        const { stdout } = await verify('--anchors', told);
        expect(stdout).to.include(NOTHING).and.to.include('No entry waits to be linked.');
      },
      { deadlineMs: 60_000 },
    );
  });
});
