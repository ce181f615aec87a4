import { expect } from 'chai';
import { tryAdvisoryLock } from '../../../src/data/advisory-lock.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { KEYS_TURN } from '../../../src/services/key-rotation/parts.ts';
import { rulesFor } from '../../support/access.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { killKeysCommand, runKeysCommand } from '../../support/keys-command.ts';
import { startReplica } from '../../support/replica.ts';
import { findChangedKeys, plantDataKeys, startLoad, type Load, type PlantedKey } from '../../support/rotation-load.ts';
import { startTestVault, type TestVault } from '../../support/vault.ts';

const PLANTED = { tenants: 250, keysOfEach: 20 };
const COUNT = PLANTED.tenants * PLANTED.keysOfEach;

/** Each step goes on where the one before it ended. */
for (const { name, create } of KEY_MANAGEMENTS) {
  describe(`rotation of keys under load, over ${name}`, function () {
    this.timeout(300_000);
    let keys: TestKeys;
    let management: KeyManagement;
    let custodian: KeyManagement;
    let vault: TestVault;
    let replica: Awaited<ReturnType<typeof startReplica>>;
    let key: string;
    let planted: PlantedKey[];
    let load: Load;

    const command = (...words: string[]) => runKeysCommand(words, { keys, connectionString: vault.connectionString });

    async function countByVersion(): Promise<Record<number, number>> {
      const rows = await vault.database.run<{ version: number; count: number }>({
        text: `
          select master_version as version, count(*)::integer as count from data_keys
          where master = 'tokens' group by master_version`,
      });
      return Object.fromEntries(rows.map(({ version, count }) => [version, count]));
    }

    before(async function () {
      keys = await create(this);
      this.timeout(300_000);
      management = await keys.open();
      custodian = await keys.openAsCustodian();
      // Keys are unwrapped all the time, not once in five minutes.
      const dataKeyLimits = { cacheTtlMs: 200 };
      vault = await startTestVault({ keyManagement: await keys.open(), dataKeyLimits });
      const keyManagement = await keys.open();
      replica = await startReplica(vault, vault.apiConnectionString, {}, { keyManagement, dataKeyLimits });
      ({ key } = await vault.application({ rules: rulesFor({ '/': 'reveal' }, ['token:create', 'token:read']) }));
      planted = await plantDataKeys(vault.database, management, PLANTED);
      load = startLoad([vault.baseUrl, replica.baseUrl], key);
    });
    after(async () => {
      await replica?.stop();
      await vault?.stop();
      await keys?.dispose();
    });

    it('gives the master key and every data key a successor', async () => {
      const before = await countByVersion();
      expect(before[1]).to.be.at.least(COUNT);
      const { code, stdout, stderr } = await command('rotate', '--data-keys');
      expect(code, stderr).to.equal(0);
      expect(stdout)
        .to.include('The master key of tokens is at v2')
        .and.match(/1 active data keys are replaced/);
      expect(await custodian.versions('tokens')).to.include({ current: 2, oldest: 1 });
    });

    it('says that another process is at it, instead of waiting', async () => {
      const turn = await tryAdvisoryLock(vault.connectionString, KEYS_TURN);
      const { code, stderr } = await command('rewrap');
      await turn!.release();
      expect(code).to.equal(1);
      expect(stderr).to.include('another process is changing keys of this vault');
      expect((await countByVersion())[1]).to.be.at.least(COUNT);
    });

    it('leaves a rewrap that is killed midway to the next one, which does nothing twice', async () => {
      const target = { keys, connectionString: vault.connectionString };
      const lines = await killKeysCommand(['rewrap'], target, (line) => /^rewrapped [1-9]/.test(line));
      expect(lines.at(-1)).not.to.match(new RegExp(`^rewrapped ${COUNT} of`));
      const done = await vault.database.run<{ id: string; wrapped: string }>({
        text: `select data_key_id as id, wrapped from data_keys where master_version = 2 and not active`,
      });
      const left = (await countByVersion())[1]!;
      expect(done.length).to.be.at.least(1);
      expect(left).to.be.at.least(1);

      const { code, stdout, stderr } = await command('rewrap');
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include(`${left} data keys rewrapped under v2`);
      const [{ unchanged } = { unchanged: 0 }] = await vault.database.run<{ unchanged: number }>(
        {
          text: `
            select count(*)::integer as unchanged from data_keys
            join unnest($1::uuid[], $2::text[]) as done (data_key_id, wrapped) using (data_key_id, wrapped)`,
        },
        [done.map(({ id }) => id), done.map(({ wrapped }) => wrapped)],
      );
      expect(unchanged).to.equal(done.length);
    });

    it('retires the old version, of which no copy unwraps any more', async () => {
      const { code, stdout, stderr } = await command('rewrap', '--retire');
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include('Versions below v2 are destroyed');
      expect(await custodian.versions('tokens')).to.include({ current: 2, oldest: 2 });
      expect(Object.keys(await countByVersion())).to.deep.equal(['2']);
      for (const { tenantId, wrapped } of planted.slice(0, 20)) {
        const [outcome] = await Promise.allSettled([management.unwrapDataKey('tokens', tenantId, wrapped)]);
        expect(outcome.status).to.equal('rejected');
      }
    });

    it('goes on beside live traffic a second time', async () => {
      expect((await command('rotate')).code).to.equal(0);
      expect((await command('rewrap', '--retire')).code).to.equal(0);
      expect(await custodian.versions('tokens')).to.include({ current: 3, oldest: 3 });
    });

    it('fails no read and no write, and every value and data key is what it was', async () => {
      const { reads, writes, failures } = await load.stop();
      expect(failures).to.deep.equal([]);
      expect(reads).to.be.at.least(10);
      expect(writes).to.be.at.least(10);
      expect(await findChangedKeys(vault.database, management)).to.deep.equal([]);
      for (const [id, data] of load.tokens) {
        const { body } = await vault.request('GET', `/tokens/${id}`, { key });
        expect(body.data).to.equal(data);
      }
    });

    it('is shown by the status, which asks for nothing then', async () => {
      const { code, stdout } = await command('status');
      expect(stdout)
        .to.match(/^tokens +v3 +\S+ +v3 +v3: \d+ /m)
        .and.match(/^cvc +v1 +\S+ +v1 /m);
      expect(stdout).not.to.include('!');
      expect(code).to.equal(0);
    });
  });
}
