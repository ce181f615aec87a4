import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createDatabase } from '../../../src/data/database.ts';
import { takeUnlinked } from '../../../src/data/log-queue.ts';
import { insertLogs } from '../../../src/data/logs.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { createAuditChain, type AuditChain } from '../../../src/services/audit-chain/audit-chain.ts';
import { verifyAuditChain } from '../../../src/services/audit-chain/verify.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, storedTenant } from '../../support/rows.ts';

const PROGRAM = fileURLToPath(new URL('../../support/audit-linker-process.ts', import.meta.url));
const WRITERS = 200;
const ROUNDS = 5;

describe('the chain of the audit log, with several processes at work', function () {
  this.timeout(120_000);
  let test: TestDatabase;
  let folder: string;
  let keyring: string;
  let keyManagement: KeyManagement;
  let tenantId: string;
  let chain: AuditChain;

  beforeEach(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-audit-'));
    keyring = join(folder, 'keyring.json');
    keyManagement = await openKeyring(keyring, { isNeeded: async () => false });
    tenantId = await storedTenant(test.database);
    chain = createAuditChain({
      ...{ database: test.maintenance, keyManagement, logger: silentLogger, metrics: createMetrics() },
    });
  });
  afterEach(async () => {
    await keyManagement.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const count = async (text: string): Promise<number> => {
    const [row] = await test.database.run<{ count: number }>({ text: `select (${text})::integer as count` });
    return row!.count;
  };
  const unlinked = () => count('select coalesce(sum(entries), 0) from log_unlinked');
  const linked = () => count('select coalesce(sum(cardinality(log_ids)), 0) from log_links');

  function linker(): ChildProcess {
    return spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', PROGRAM, test.sweeperConnectionString, keyring],
      {
        stdio: ['pipe', 'ignore', 'inherit'],
      },
    );
  }

  async function kill(child: ChildProcess): Promise<void> {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  it(`holds each entry of ${WRITERS} concurrent writers once, though one of 3 linkers is killed`, async () => {
    const pool = createDatabase({ connectionString: test.connectionString, logger: silentLogger, poolSize: 20 });
    const linkers = [linker(), linker(), linker()];
    try {
      let written = 0;
      const write = async (): Promise<void> => {
        for (let round = 0; round < ROUNDS; round++) {
          const entries = Array.from({ length: 1 + (round % 3) }, () => newLog(tenantId, 'x'));
          await insertLogs(pool, entries);
          written += entries.length;
          if (round === 1) await eventually(async () => expect(await linked()).to.be.above(0), { deadlineMs: 60_000 });
        }
      };
      const writers = Promise.all(Array.from({ length: WRITERS }, write));
      await eventually(async () => expect(await linked()).to.be.above(0), { deadlineMs: 60_000 });
      await kill(linkers[0]!);
      await writers;
      await eventually(async () => expect(await unlinked()).to.equal(0), { deadlineMs: 60_000 });
      expect(await linked()).to.equal(written);
      expect(await count('select count(distinct id) from log_links, unnest(log_ids) as id')).to.equal(written);
      const verified = await verifyAuditChain({ database: test.database, keyManagement });
      expect(verified.fault).to.equal(undefined);
      expect(verified.entries).to.equal(written);
    } finally {
      await Promise.all(linkers.slice(1).map(kill));
      await pool.close();
    }
  });

  it('has what a killed process left linked by another one', async () => {
    const killed = linker();
    await insertLogs(test.database, [newLog(tenantId, 'before')]);
    await eventually(async () => expect(await linked()).to.equal(1), { deadlineMs: 60_000 });
    await kill(killed);
    await insertLogs(test.database, [newLog(tenantId, 'after')]);
    await chain.flush();
    expect(await linked()).to.equal(2);
    expect(await count('select count(distinct writer) from log_links')).to.equal(2);
    expect((await verifyAuditChain({ database: test.database, keyManagement })).fault).to.equal(undefined);
  });

  it('keeps nobody who writes waiting while a linker does not end, nor any other linker', async () => {
    await insertLogs(test.database, [newLog(tenantId, 'held')]);
    await test.database.transaction(async (held) => {
      expect(await takeUnlinked(held, 100)).to.have.length(1);
      for (let entry = 0; entry < 20; entry++) await insertLogs(test.database, [newLog(tenantId, 'x')]);
      await chain.flush();
      expect(await linked()).to.equal(20);
      await held.run({ text: 'select 1' });
    });
  });

  it('gives back what a linker had taken that failed', async () => {
    await insertLogs(test.database, [newLog(tenantId, 'x')]);
    const failure = new Error('failed');
    const failed = await test.database
      .transaction(async (transaction) => {
        expect(await takeUnlinked(transaction, 100)).to.have.length(1);
        throw failure;
      })
      .catch((error: unknown) => error);
    expect(failed).to.equal(failure);
    await chain.flush();
    expect(await linked()).to.equal(1);
  });
});
