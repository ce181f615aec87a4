import { expect } from 'chai';
import { createDataKeyStore, destroyDueDataKeys } from '../../../src/data/data-keys.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { createDataKeys, type DataKeyLimits, type DataKeys } from '../../../src/keys/data-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { eventually } from '../../support/eventually.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

const HOUR = 3600_000;
/** Data keys of codes outlive the codes by this, in ms. */
const SKEW = 60_000;

for (const { name, create } of KEY_MANAGEMENTS) {
  describe(`data keys over ${name}`, () => {
    let test: TestDatabase;
    let keys: TestKeys;
    let real: KeyManagement;
    let tenantId: string;
    let now: number;
    let outage: boolean;
    let unwraps: number;
    /** Holds up whoever unwraps a key, once they have said so. */
    let gate: { entered: PromiseWithResolvers<void>; opened: PromiseWithResolvers<void> } | undefined;

    // The real one, with the two things that a test needs to see or cause.
    const management = (): KeyManagement => ({
      ...real,
      async createDataKey(master, tenant) {
        if (outage) throw new DomainError('unavailable', 'key management is unreachable');
        return real.createDataKey(master, tenant);
      },
      async unwrapDataKey(master, tenant, wrapped) {
        if (outage) throw new DomainError('unavailable', 'key management is unreachable');
        unwraps++;
        gate?.entered.resolve();
        await gate?.opened.promise;
        return real.unwrapDataKey(master, tenant, wrapped);
      },
    });

    const processes: DataKeys[] = [];
    function createProcess(limits: Partial<DataKeyLimits> = {}): DataKeys {
      const store = createDataKeyStore(test.database);
      const process = createDataKeys({ management: management(), store, clock: { now: () => now }, limits });
      processes.push(process);
      return process;
    }

    async function activeKeys(): Promise<number> {
      const [row] = await test.database.run<{ count: number }>(
        { text: 'select count(*)::integer as count from data_keys where tenant_id = $1 and active' },
        [tenantId],
      );
      return row!.count;
    }

    const idOf = async (process: DataKeys, uses = 1): Promise<string> =>
      (await process.forSealing(tenantId, uses)).id.toString('hex');

    before(async function () {
      keys = await create(this);
      real = await keys.open();
      test = await createTestDatabase();
    });
    after(async () => {
      await test?.dispose();
      await keys?.dispose();
    });
    beforeEach(async () => {
      tenantId = await storedTenant(test.database);
      now = Date.now();
      outage = false;
      unwraps = 0;
      gate = undefined;
    });
    afterEach(() => processes.splice(0).forEach((process) => process.close()));

    it('are stored, wrapped, before their first use', async () => {
      const dataKey = await createProcess().forSealing(tenantId, 1);
      const rows = await test.database.run<{ id: string; wrapped: string }>(
        { text: `select replace(data_key_id::text, '-', '') as id, wrapped from data_keys where tenant_id = $1` },
        [tenantId],
      );
      expect(rows).to.have.length(1);
      expect(rows[0]!.id).to.equal(dataKey.id.toString('hex'));
      expect(rows[0]!.wrapped).not.to.include(dataKey.key.export().toString('base64'));
    });

    it('are at hand at once when warm', async () => {
      const process = createProcess();
      await process.forSealing(tenantId, 1);
      expect(process.forSealing(tenantId, 1)).not.to.be.instanceOf(Promise);
    });

    it('are one for all processes that ask for the first at the same time', async () => {
      const several = Array.from({ length: 8 }, () => createProcess());
      const ids = await Promise.all(several.flatMap((process) => [idOf(process), idOf(process)]));
      expect(new Set(ids).size).to.equal(1);
      expect(await activeKeys()).to.equal(1);
    });

    it('are one again when many processes replace one at the same time', async () => {
      const several = Array.from({ length: 8 }, () => createProcess());
      const before = await idOf(several[0]!);
      now += 25 * HOUR;
      const ids = await Promise.all(several.map((process) => idOf(process)));
      expect(new Set(ids).size).to.equal(1);
      expect(ids[0]).not.to.equal(before);
      expect(await activeKeys()).to.equal(1);
    });

    it('are replaced after their uses', async () => {
      const process = createProcess({ maxUses: 10, usesBlock: 5 });
      const ids = [];
      for (let use = 0; use < 21; use++) ids.push(await idOf(process));
      expect(new Set(ids.slice(0, 10)).size).to.equal(1);
      expect(new Set(ids).size).to.equal(3);
      expect(await activeKeys()).to.equal(1);
    });

    it('count the uses of all processes together', async () => {
      const [one, two] = [createProcess({ maxUses: 10, usesBlock: 5 }), createProcess({ maxUses: 10, usesBlock: 5 })];
      const first = await idOf(one, 5);
      expect(await idOf(two, 5)).to.equal(first);
      expect(await idOf(one)).not.to.equal(first);
    });

    it('are replaced after their age, and still open what they sealed', async () => {
      const process = createProcess();
      const old = await process.forSealing(tenantId, 1);
      now += 24 * HOUR - 1;
      expect(await idOf(process)).to.equal(old.id.toString('hex'));
      now += 1;
      expect(await idOf(process)).not.to.equal(old.id.toString('hex'));
      const found = await createProcess().forOpening(tenantId, old.id);
      expect(found?.key.equals(old.key)).to.equal(true);
    });

    it('are unwrapped once in their time to live, and then again', async () => {
      const { id } = await createProcess().forSealing(tenantId, 1);
      const process = createProcess();
      await Promise.all([process.forOpening(tenantId, id), process.forOpening(tenantId, id)]);
      expect(unwraps).to.equal(1);
      now += 5 * 60_000;
      await process.forOpening(tenantId, id);
      expect(unwraps).to.equal(2);
    });

    it('serve from memory during an outage of key management, until their time to live ends', async () => {
      const process = createProcess();
      const { id } = await process.forSealing(tenantId, 1);
      outage = true;
      now += 5 * 60_000 - 1;
      expect(await idOf(process)).to.equal(id.toString('hex'));
      expect(await process.forOpening(tenantId, id)).not.to.equal(undefined);
      now += 1;
      const failures = await Promise.allSettled([idOf(process), process.forOpening(tenantId, id)]);
      for (const failure of failures) {
        expect(failure).to.have.property('status', 'rejected');
        expect(failure).to.have.nested.property('reason.kind', 'unavailable');
      }
      outage = false;
      expect(await idOf(process)).to.equal(id.toString('hex'));
    });

    it('stay the same for hashing, however old', async () => {
      const { id } = await createProcess().forHashing(tenantId, 'fingerprint');
      now += 10_000 * HOUR;
      expect((await createProcess().forHashing(tenantId, 'fingerprint')).id).to.deep.equal(id);
      expect((await createProcess().forHashing(tenantId, 'search')).id).not.to.deep.equal(id);
    });

    it('do not open for another tenant', async () => {
      const { id } = await createProcess().forSealing(tenantId, 1);
      expect(await createProcess().forOpening(await storedTenant(test.database), id)).to.equal(undefined);
    });

    it('are forgotten with their tenant', async () => {
      const process = createProcess();
      const { id } = await process.forSealing(tenantId, 1);
      await test.database.run({ text: 'delete from tenants where tenant_id = $1' }, [tenantId]);
      process.forget(tenantId);
      expect(await process.forOpening(tenantId, id)).to.equal(undefined);
    });

    for (const [what, lookUp] of [
      ['to open', (process: DataKeys, id: Buffer) => process.forOpening(tenantId, id)],
      ['to seal', (process: DataKeys) => process.forSealing(tenantId, 1)],
    ] as const) {
      it(`are not kept by who asked for one ${what} before their tenant was forgotten, and got it after`, async () => {
        const { id } = await createProcess().forSealing(tenantId, 1);
        const process = createProcess();
        gate = { entered: Promise.withResolvers(), opened: Promise.withResolvers() };
        const asked = Promise.allSettled([lookUp(process, id)]);
        await gate.entered.promise;
        await test.database.run({ text: 'delete from tenants where tenant_id = $1' }, [tenantId]);
        process.forget(tenantId);
        gate.opened.resolve();
        await asked;
        expect(process.size).to.equal(0);
      });
    }

    it('seal for a tenant that was merely forgotten while one was looked up', async () => {
      const first = await createProcess().forSealing(tenantId, 1);
      const process = createProcess();
      gate = { entered: Promise.withResolvers(), opened: Promise.withResolvers() };
      const asked = process.forSealing(tenantId, 1);
      await gate.entered.promise;
      process.forget(tenantId);
      gate.opened.resolve();
      expect((await asked).id).to.deep.equal(first.id);
    });

    it('leave memory when they are past their time, whether or not somebody asks', async () => {
      const process = createProcess({ dropIntervalMs: 5 });
      await process.forSealing(tenantId, 1);
      now += 5 * 60_000 - 1;
      await process.forHashing(tenantId, 'search');
      expect(process.size).to.equal(4);
      now += 1;
      await eventually(() => expect(process.size).to.equal(2));
      now += 5 * 60_000;
      await eventually(() => expect(process.size).to.equal(0));
    });

    it('are bounded in memory', async () => {
      const process = createProcess({ cacheSize: 1 });
      const { id } = await process.forSealing(tenantId, 1);
      await process.forHashing(tenantId, 'search');
      await process.forOpening(tenantId, id);
      expect(unwraps).to.equal(1);
    });

    describe('of card verification codes', () => {
      it('serve a quarter of the retention, under a master key of their own', async () => {
        const process = createProcess();
        const first = await process.forSealingCvc(tenantId, HOUR, 1);
        now += HOUR / 4 - 1;
        expect((await process.forSealingCvc(tenantId, HOUR, 1)).id).to.deep.equal(first.id);
        now += 1;
        expect((await process.forSealingCvc(tenantId, HOUR, 1)).id).not.to.deep.equal(first.id);
      });

      it('give way to one that lives longer where the retention grew', async () => {
        const process = createProcess();
        const first = await process.forSealingCvc(tenantId, HOUR, 1);
        expect((await process.forSealingCvc(tenantId, 2 * HOUR, 1)).id).not.to.deep.equal(first.id);
      });

      it('open what Postgres still shows while its clock is 30 s behind', async () => {
        const process = createProcess();
        await process.forSealingCvc(tenantId, HOUR, 1);
        now += HOUR / 4 - 1;
        const { id } = await process.forSealingCvc(tenantId, HOUR, 1);
        now += HOUR + 30_000;
        expect(await process.forOpening(tenantId, id)).not.to.equal(undefined);
      });

      it('leave memory when they are to be destroyed, before their time to live ends', async () => {
        const process = createProcess({ dropIntervalMs: 5, cacheTtlMs: 24 * HOUR });
        await process.forSealingCvc(tenantId, HOUR, 1);
        now += HOUR * 1.25 + SKEW;
        await eventually(() => expect(process.size).to.equal(0));
      });

      it('open nothing from when they are to be destroyed', async () => {
        const process = createProcess();
        const { id } = await process.forSealingCvc(tenantId, HOUR, 1);
        now += HOUR * 1.25 + SKEW - 1;
        expect(await process.forOpening(tenantId, id)).not.to.equal(undefined);
        now += 1;
        expect(await process.forOpening(tenantId, id)).to.equal(undefined);
      });

      it('are destroyed when due, and only then', async () => {
        const due = createProcess();
        now -= 2 * HOUR;
        const { id } = await due.forSealingCvc(tenantId, HOUR, 1);
        now += 2 * HOUR;
        const kept = await due.forSealingCvc(tenantId, HOUR, 1);
        const destroyed = (await destroyDueDataKeys(test.maintenance)).map((key) => key.id.replaceAll('-', ''));
        expect(destroyed).to.include(id.toString('hex')).and.not.include(kept.id.toString('hex'));
        expect(await createDataKeyStore(test.database).findActive(tenantId, 'cvc')).to.have.property('purpose', 'cvc');
      });
    });
  });
}
