import { expect } from 'chai';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import { createDataKeys } from '../../../src/keys/data-keys.ts';
import { createSealer } from '../../../src/keys/sealing.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { KEY_MANAGEMENTS } from '../../support/key-managements.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

const PROCESSES = 2;
const WRITERS = 10;
const EACH = 300;
const LIMITS = { maxUses: 1_000, usesBlock: 130 };

describe('uses of a data key', function () {
  this.timeout(60_000);

  it(`are ${LIMITS.maxUses} at most, while ${PROCESSES} processes reserve them in blocks at once`, async function () {
    const keys = await KEY_MANAGEMENTS[0]!.create(this);
    const test = await createTestDatabase();
    const management = await keys.open();
    const tenantId = await storedTenant(test.database);
    const place = { tenantId, table: 'tokens', rowId: 'a', column: 'data', version: '1' };
    const processes = Array.from({ length: PROCESSES }, () =>
      createDataKeys({
        ...{ management, store: createDataKeyStore(test.database), clock: systemClock, limits: LIMITS },
      }),
    );
    const used = new Map<string, number>();
    try {
      const writers = processes.flatMap((dataKeys) => {
        const sealer = createSealer(dataKeys);
        return Array.from({ length: WRITERS }, async () => {
          for (let count = 0; count < EACH; count++) {
            const id = (await sealer.seal(place, '')).toString('hex', 1, 17);
            used.set(id, (used.get(id) ?? 0) + 1);
          }
        });
      });
      await Promise.all(writers);
      const stored = await test.database.run<{ id: string; uses: number }>({
        text: `select replace(data_key_id::text, '-', '') as id, uses::integer as uses from data_keys`,
      });
      const total = PROCESSES * WRITERS * EACH;
      expect([...used.values()].reduce((sum, count) => sum + count, 0)).to.equal(total);
      expect(used.size).to.be.at.least(total / LIMITS.maxUses);
      for (const [id, count] of used) {
        const reserved = stored.find((row) => row.id === id)!.uses;
        expect(count).to.be.at.most(reserved);
        expect(reserved).to.be.at.most(LIMITS.maxUses);
      }
    } finally {
      processes.forEach((dataKeys) => dataKeys.close());
      await test.dispose();
      await keys.dispose();
    }
  });
});
