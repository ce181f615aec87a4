import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sweepHeads } from '../../../src/data/log-heads.ts';
import { raiseLogHorizon, sweepRemovedTenants } from '../../../src/data/log-horizon.ts';
import { sweepLinks } from '../../../src/data/log-links.ts';
import { clearUnpartitionedLogs, insertLogs } from '../../../src/data/logs.ts';
import { upsertTenant } from '../../../src/data/tenants.ts';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createLinker } from '../../../src/services/audit-chain/linker.ts';
import { verifyAuditChain } from '../../../src/services/audit-chain/verify.ts';
import { type AuditHistory, writeHistory } from '../../support/audit-history.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, newTenant } from '../../support/rows.ts';

const HOURS = 6;

describe('retention of the audit log and its chains', () => {
  let test: TestDatabase;
  let folder: string;
  let keyManagement: KeyManagement;
  let history: AuditHistory;

  beforeEach(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-audit-'));
    keyManagement = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
    history = await writeHistory(test.database, keyManagement, { hours: HOURS, links: 2, entriesPerLink: 2 });
  });
  afterEach(async () => {
    await keyManagement.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const verify = () => verifyAuditChain({ database: test.database, keyManagement });

  async function retain(hours: number): Promise<void> {
    const quotas = { ...DEFAULT_QUOTAS, logRetentionSeconds: hours * 3600 };
    const id = history.entries[0]!.tenantId;
    const log = newLog(id, id, { entityType: 'tenant', operation: 'update' });
    await upsertTenant(test.database, newTenant({ id, quotas }), [log, { ...log, operation: 'create' }]);
  }

  /** As the sweeper does it. */
  async function sweep(): Promise<{ entries: number; links: number; heads: number }> {
    await raiseLogHorizon(test.maintenance);
    const entries = await clearUnpartitionedLogs(test.maintenance, 1_000);
    const [links, heads] = [await sweepLinks(test.maintenance, 1_000), await sweepHeads(test.maintenance, 1_000)];
    await sweepRemovedTenants(test.maintenance);
    return { entries, links, heads };
  }

  it('removes nothing that is still promised', async () => {
    expect(await sweep()).to.deep.equal({ entries: 0, links: 0, heads: 0 });
    expect(await verify()).to.include({ fault: undefined, chains: 2 * HOURS });
  });

  it('removes links and heads an hour after the entries that they hold, and nothing is missed', async () => {
    await retain(2);
    const swept = await sweep();
    expect(swept.entries).to.be.above(0);
    expect(swept.links).to.be.above(0);
    expect(swept.heads).to.be.above(0);
    expect(swept.links).to.be.below(swept.entries);
    expect((await verify()).fault).to.equal(undefined);
  });

  it('misses nothing that was dropped under a retention that is longer again', async () => {
    const linker = createLinker({ database: test.maintenance, logger: silentLogger });
    await retain(2);
    await sweep();
    await retain(24);
    await linker.linkOnce();
    expect((await verify()).fault).to.equal(undefined);
    await sweep();
    expect((await verify()).fault).to.equal(undefined);
  });

  it('misses what is gone within the retention that is left', async () => {
    await retain(2);
    await sweep();
    const gone = history.entries.at(-3)!;
    await test.database.run({ text: 'delete from logs where log_id = $1' }, [gone.id]);
    const { fault } = await verify();
    expect(fault).to.include({ kind: 'missing' });
    expect(fault!.entry!.id).to.equal(gone.id);
  });

  it('takes an entry past retention that is still there, but no longer in a link, for what it is', async () => {
    await retain(2);
    await sweep();
    const old = newLog(history.entries[0]!.tenantId, 'x', { createdAt: history.hours[0] });
    await insertLogs(test.database, [old]);
    await test.database.run({ text: 'delete from log_unlinked where $1 = any (log_ids)' }, [old.id]);
    expect((await verify()).fault).to.equal(undefined);
  });
});
