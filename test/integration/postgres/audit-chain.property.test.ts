import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Queryable } from '../../../src/data/database.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { verifyAuditChain } from '../../../src/services/audit-chain/verify.ts';
import { type AuditHistory, writeHistory } from '../../support/audit-history.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

const ENTRIES = 2 * 3 * 3 * 4;
const RUNS = 60;

/** What is done to an entry, as SQL of a table `logs` and an id. */
const TAMPERINGS = [
  `update logs set message = message || '.' where log_id = $1`,
  `update logs set actor_id = gen_random_uuid() where log_id = $1`,
  `update logs set entity_id = '' where log_id = $1`,
  `update logs set operation = 'tamper' where log_id = $1`,
  `update logs set created_at = created_at + interval '7 milliseconds' where log_id = $1`,
  `update logs set tenant_id = gen_random_uuid() where log_id = $1`,
  'delete from logs where log_id = $1',
];

describe('verification of an audit log that was tampered with at random', function () {
  this.timeout(180_000);
  let test: TestDatabase;
  let folder: string;
  let keyManagement: KeyManagement;
  let history: AuditHistory;

  before(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-audit-'));
    keyManagement = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
    history = await writeHistory(test.database, keyManagement, { entriesPerLink: 4 });
    expect(history.entries).to.have.length(ENTRIES);
  });
  after(async () => {
    await keyManagement.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  async function undone(work: (on: Queryable) => Promise<void>): Promise<void> {
    const end = new Error('undone');
    await test.database
      .transaction(async (on) => {
        await work(on);
        throw end;
      })
      .catch((error: unknown) => {
        if (error !== end) throw error;
      });
  }

  it(`names the earliest entry that was, in ${RUNS} logs`, async () => {
    const tampering = fc.record({
      index: fc.nat(ENTRIES - 1),
      text: fc.constantFrom(...TAMPERINGS),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(tampering, { minLength: 1, maxLength: 5, selector: ({ index }) => index }),
        async (tamperings) => {
          await undone(async (on) => {
            for (const { index, text } of tamperings) await on.run({ text }, [history.entries[index]!.id]);
            const first = history.entries[Math.min(...tamperings.map(({ index }) => index))]!;
            const { fault } = await verifyAuditChain({ database: on, keyManagement });
            expect(fault?.entry?.id).to.equal(first.id);
          });
        },
      ),
      { numRuns: RUNS },
    );
  });
});
