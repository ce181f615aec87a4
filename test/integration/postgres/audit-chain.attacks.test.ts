import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Queryable } from '../../../src/data/database.ts';
import type { ChainHead } from '../../../src/domain/audit-chain.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { openKeyring } from '../../../src/keys/keyring.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createAnchors } from '../../../src/services/audit-chain/anchors.ts';
import { createLinker } from '../../../src/services/audit-chain/linker.ts';
import { type Verification, verifyAuditChain } from '../../../src/services/audit-chain/verify.ts';
import type { Attack, Expected } from '../../support/audit-attacks/attack.ts';
import { ATTACKS_ON_ENTRIES } from '../../support/audit-attacks/on-entries.ts';
import { attacksOnHeads } from '../../support/audit-attacks/on-heads.ts';
import { ATTACKS_ON_LINKS } from '../../support/audit-attacks/on-links.ts';
import { type AuditHistory, writeHistory } from '../../support/audit-history.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

describe('verification of the audit log', () => {
  let test: TestDatabase;
  let folder: string;
  let keyManagement: KeyManagement;
  let history: AuditHistory;

  before(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tokenkeep-audit-'));
    keyManagement = await openKeyring(join(folder, 'keyring.json'), { isNeeded: async () => false });
    history = await writeHistory(test.database, keyManagement);
  });
  after(async () => {
    await keyManagement.close();
    await test.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const told = (): Map<number, readonly ChainHead[]> => Map.groupBy(history.heads, ({ hour }) => +hour);

  it('passes over a log that nobody has touched', async () => {
    const verified = await verifyAuditChain({ database: test.database, keyManagement, told: told() });
    expect(verified.fault).to.equal(undefined);
    const { chains, links, entries, unsealed, sealedByOthers } = verified;
    expect(sealedByOthers).to.deep.equal({ chains: 0, latestMs: 0 });
    expect({ chains, links, entries, unsealed }).to.deep.equal({ chains: 6, links: 18, entries: 54, unsealed: 0 });
  });

  /** Verifies what an attack leaves, and undoes it. */
  async function verificationAfter(
    attack: Attack,
    meanwhile: (on: Queryable) => Promise<void> = async () => {},
  ): Promise<{ expected: Expected; verified: Verification }> {
    let outcome: { expected: Expected; verified: Verification } | undefined;
    const undo = new Error('undone');
    await test.database
      .transaction(async (on) => {
        const expected = await attack.carryOut(on, history);
        await meanwhile(on);
        const verified = await verifyAuditChain({ database: on, keyManagement, ...(attack.told && { told: told() }) });
        outcome = { expected, verified };
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error;
      });
    return outcome!;
  }

  describe('where all was computed anew, sealed heads were removed, and a vault that started then sealed the ends', () => {
    const attack = (): Attack =>
      attacksOnHeads(() => keyManagement).find(({ name }) => name.endsWith('all sealed heads removed'))!;
    const start = (on: Queryable): Promise<void> => {
      const linker = createLinker({ database: test.database, logger: silentLogger });
      return createAnchors({ database: on, keyManagement, linker, logger: silentLogger }).anchor();
    };

    it('names it by the heads that the log tells of', async () => {
      const { expected, verified } = await verificationAfter(attack(), start);
      expect(verified.fault).to.include({ kind: expected.kind, n: expected.n });
    });

    it('tells without them only that the ends were sealed by another writer, and how late', async () => {
      const { told: _, ...untold } = attack();
      const { fault, sealedByOthers } = (await verificationAfter(untold, start)).verified;
      expect(fault).to.equal(undefined);
      // Those of the present hour may be too young to be taken for abandoned.
      expect(sealedByOthers.chains).to.be.at.least(4);
      expect(sealedByOthers.latestMs).to.be.above(3_600_000);
    });
  });

  const groups: readonly [string, readonly Attack[]][] = [
    ['entries', ATTACKS_ON_ENTRIES],
    ['links', ATTACKS_ON_LINKS],
    ['heads', attacksOnHeads(() => keyManagement)],
  ];
  for (const [target, attacks] of groups) {
    describe(`names the first place of each of ${attacks.length} attacks on ${target}`, () => {
      for (const attack of attacks) {
        it(attack.name, async () => {
          const { expected, verified } = await verificationAfter(attack);
          const { kind, entry, chain, n } = verified.fault ?? {};
          const named = { kind, entry: entry?.id, chain, n };
          expect(named).to.deep.equal({ entry: undefined, chain: undefined, n: undefined, ...expected });
        });
      }
    });
  }
});
