import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Queryable } from '../../../src/data/database.ts';
import { insertLogs } from '../../../src/data/logs.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createLinker } from '../../../src/services/audit-chain/linker.ts';
import { verifyAuditChain } from '../../../src/services/audit-chain/verify.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, storedTenant } from '../../support/rows.ts';

describe('verification of the audit log with entries of deleted tenants', () => {
  let test: TestDatabase;
  let folder: string;
  let keyManagement: KeyManagement;

  beforeEach(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-audit-'));
    keyManagement = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
    // By whose retention the log is promised; without any tenant, nothing is.
    await storedTenant(test.database);
  });
  afterEach(async () => {
    await keyManagement.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const link = () => createLinker({ database: test.maintenance, logger: silentLogger }).linkOnce();
  const verify = () => verifyAuditChain({ database: test.database, keyManagement });

  it('does not miss the entries of a tenant that was deleted, even if there is one of its id again', async () => {
    const other = await storedTenant(test.database);
    await insertLogs(test.database, [newLog(other, 'x')]);
    await link();
    await test.database.run({ text: 'delete from tenants where tenant_id = $1' }, [other]);
    await test.database.run({ text: 'delete from logs where tenant_id = $1' }, [other]);
    expect((await verify()).fault).to.equal(undefined);
    await storedTenant(test.database, { id: other });
    expect((await verify()).fault).to.equal(undefined);
  });

  it('asks once what became of a deleted tenant, however many of its entries are gone', async () => {
    const other = await storedTenant(test.database);
    await insertLogs(
      test.database,
      Array.from({ length: 5 }, () => newLog(other, 'x')),
    );
    await link();
    await test.database.run({ text: 'delete from tenants where tenant_id = $1' }, [other]);
    await test.database.run({ text: 'delete from logs where tenant_id = $1' }, [other]);
    const asked: unknown[] = [];
    const database: Queryable = {
      run(statement, values) {
        if (statement.text.includes('log_removed_tenants')) asked.push(...(values ?? []));
        return test.database.run(statement, values);
      },
    };
    const { fault, removed } = await verifyAuditChain({ database, keyManagement });
    expect(fault).to.equal(undefined);
    expect([...removed]).to.deep.equal([[other, 5]]);
    expect(asked).to.deep.equal([other]);
  });

  it('does not miss what a request under way has written while its tenant was being deleted', async () => {
    const other = await storedTenant(test.database);
    // By the clock of a process that is ahead of the database's.
    await insertLogs(test.database, [newLog(other, 'x', { createdAt: new Date(Date.now() + 5_000) })]);
    await test.database.run({ text: 'delete from tenants where tenant_id = $1' }, [other]);
    await insertLogs(test.database, [newLog(other, 'late')]);
    await link();
    await test.maintenance.run({ text: 'select remove_logs_of_deleted_tenant($1, 100)' }, [other]);
    const { fault, removed } = await verify();
    expect(fault).to.equal(undefined);
    expect([...removed]).to.deep.equal([[other, 2]]);
  });

  it('misses what is gone of a tenant that was not deleted', async () => {
    const other = await storedTenant(test.database);
    await insertLogs(test.database, [newLog(other, 'x')]);
    await link();
    await test.database.run({ text: 'delete from logs where tenant_id = $1' }, [other]);
    expect((await verify()).fault).to.include({ kind: 'missing' });
    expect((await verify()).fault!.entry!.tenantId).to.equal(other);
  });
});
