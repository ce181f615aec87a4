import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { insertHead } from '../../../src/data/log-heads.ts';
import { insertLogs } from '../../../src/data/logs.ts';
import { HEAD_MESSAGE } from '../../../src/domain/audit-chain.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { type AuditHistory, sealHead, writeHistory } from '../../support/audit-history.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog } from '../../support/rows.ts';
import { type Ended, runProgram } from '../../support/standalone.ts';

describe('tokenkeep audit verify', function () {
  this.timeout(120_000);
  let test: TestDatabase;
  let folder: string;
  let keyManagement: KeyManagement;
  let history: AuditHistory;

  beforeEach(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-audit-'));
    keyManagement = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
    history = await writeHistory(test.database, keyManagement);
  });
  afterEach(async () => {
    await keyManagement.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const verify = (...flags: string[]): Promise<Ended> =>
    runProgram(['audit', 'verify', '--data-dir', folder, '--database-url', test.connectionString, ...flags]);

  async function anchors(): Promise<string> {
    const file = join(folder, 'vault.log');
    const lines = history.heads.map(({ writer, hour, n, hash }) =>
      JSON.stringify({ message: HEAD_MESSAGE, writer, hour: hour.toISOString(), n, hash: hash.toString('hex') }),
    );
    await writeFile(file, ['INFO started', ...lines].join('\n'));
    return file;
  }

  it('ends with 0 where nothing was altered, telling its progress by the hour', async () => {
    const { code, stdout, stderr } = await verify('--anchors', await anchors());
    expect(stdout).to.include('54 entries in 18 links of 6 chains');
    expect(stdout).to.include('Held against the heads of 6 chains in the log.');
    expect(stdout).to.include('No entry waits to be linked.');
    expect(stdout).to.include('Nothing was altered, removed, added or reordered.');
    for (const hour of history.hours) expect(stderr).to.include(hour.toISOString());
    expect(code).to.equal(0);
  });

  it('ends with 1 and names the first entry that was altered', async () => {
    const [, entry] = history.entries;
    await test.database.run({ text: `update logs set message = 'altered' where log_id = $1` }, [entry!.id]);
    const { code, stdout } = await verify();
    expect(stdout).to.include('An entry was ALTERED');
    for (const part of [entry!.id, entry!.tenantId, entry!.createdAt.toISOString(), history.writers[0]!]) {
      expect(stdout).to.include(part);
    }
    expect(code).to.equal(1);
  });

  it('ends with 1 where a chain is gone that the log of the vault tells of', async () => {
    const { writer, hour } = history.heads.at(-1)!;
    for (const table of ['log_links', 'log_heads']) {
      await test.database.run({ text: `delete from ${table} where writer = $1 and hour = $2` }, [writer, hour]);
    }
    await test.database.run({ text: 'delete from logs where created_at >= $1' }, [hour]);
    await test.database.run({ text: 'delete from log_links where hour = $1' }, [hour]);
    await test.database.run({ text: 'delete from log_heads where hour = $1' }, [hour]);
    expect((await verify()).code).to.equal(0);
    const { code, stdout } = await verify('--anchors', await anchors());
    expect(stdout).to.include('A link is MISSING');
    expect(code).to.equal(1);
  });

  it('ends with 1 and says what to do where an entry waits for too long that nobody links', async () => {
    const { tenantId } = history.entries[0]!;
    await insertLogs(test.database, [newLog(tenantId, 'x')]);
    const normal = await verify();
    expect(normal.stdout).to.match(/^1 entry waits to be linked, the oldest for \d+ s\.$/m);
    expect(normal.code).to.equal(0);
    await test.database.run({ text: `update log_unlinked set queued_at = queued_at - interval '11 minutes'` });
    const { code, stdout } = await verify();
    expect(stdout).to.match(/^1 entry waits to be linked, the oldest for \d+ s, which is TOO LONG/m);
    expect(stdout).to.include('tokenkeep_audit_chain_failures_total').and.to.include('after a kill');
    expect(code).to.equal(1);
  });

  it('tells of ends that another writer has sealed, and ends with 0', async () => {
    const { writer, hour } = history.heads[0]!;
    const late = { ...(await sealHead(keyManagement, history.heads[0]!, history.writers[1]!)) };
    await test.database.run({ text: 'delete from log_heads where writer = $1 and hour = $2' }, [writer, hour]);
    await insertHead(test.database, late);
    const { code, stdout } = await verify();
    expect(stdout).to.match(/^1 chain has its end sealed by another writer, \d+[mh] late, as after a kill/m);
    expect(code).to.equal(0);
  });

  it('ends with 1 where the log is said to reach less far back than it must', async () => {
    expect((await verify('--since', '2h')).code).to.equal(0);
    // As one would who wants what is gone to pass for expired.
    await test.database.run({
      text: `
        insert into log_links
        select '2999-01-01', writer, n, previous, hash, linked_at, now(), witnessed, tenant_ids, created_ats, log_ids,
          digests, queued_ats, first_created_at, last_created_at
        from log_links limit 1`,
    });
    await test.database.run({ text: 'delete from logs where created_at < now()' });
    const { code, stdout } = await verify('--since', '2h');
    expect(stdout).to.include('does NOT REACH BACK');
    expect(code).to.equal(1);
  });

  it('ends with 2 where the file of anchors is not there', async () => {
    const { code, stderr } = await verify('--anchors', join(folder, 'nowhere'));
    expect(stderr).to.include('--anchors');
    expect(code).to.equal(2);
  });
});
