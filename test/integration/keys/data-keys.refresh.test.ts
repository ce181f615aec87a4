import { expect } from 'chai';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import { raiseFence } from '../../../src/data/master-keys.ts';
import type { DataKeyStore } from '../../../src/domain/data-keys.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { createDataKeys, type DataKeys } from '../../../src/keys/data-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { eventually } from '../../support/eventually.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

const TTL = 5 * 60_000;

for (const { name, create } of KEY_MANAGEMENTS) {
  describe(`data keys in memory, over ${name}`, () => {
    let test: TestDatabase;
    let keys: TestKeys;
    let real: KeyManagement;
    let custodian: KeyManagement;
    let tenantId: string;
    let now: number;
    let outage: boolean;
    let unwraps: number;
    /** Every buffer in which a key left key management. */
    let buffers: Buffer[];
    let beforeUnwrap: () => Promise<void>;
    const processes: DataKeys[] = [];

    function createProcess(store: DataKeyStore = createDataKeyStore(test.database)): DataKeys {
      // The real one, with what a test needs to see or cause.
      const management: KeyManagement = {
        ...real,
        async createDataKey(master, tenant) {
          const made = await real.createDataKey(master, tenant);
          buffers.push(made.plaintext);
          return made;
        },
        async unwrapDataKey(master, tenant, wrapped) {
          if (outage) throw new DomainError('unavailable', 'key management is unreachable');
          unwraps++;
          await beforeUnwrap();
          const plaintext = await real.unwrapDataKey(master, tenant, wrapped);
          buffers.push(plaintext);
          return plaintext;
        },
      };
      const dataKeys = createDataKeys({ management, store, clock: { now: () => now } });
      processes.push(dataKeys);
      return dataKeys;
    }

    before(async function () {
      keys = await create(this);
      real = await keys.open();
      custodian = await keys.openAsCustodian();
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
      buffers = [];
      beforeUnwrap = async () => undefined;
    });
    afterEach(() => processes.splice(0).forEach((process) => process.close()));

    it('are unwrapped again in the background past half of their time, without anybody waiting', async () => {
      const dataKeys = createProcess();
      const { id } = await dataKeys.forSealing(tenantId, 1);
      now += TTL / 2 - 1;
      expect(dataKeys.forOpening(tenantId, id)).not.to.be.instanceOf(Promise);
      expect(dataKeys.forSealing(tenantId, 1)).not.to.be.instanceOf(Promise);
      expect(unwraps).to.equal(0);
      now += 1;
      expect(dataKeys.forOpening(tenantId, id)).not.to.be.instanceOf(Promise);
      expect(dataKeys.forSealing(tenantId, 1)).not.to.be.instanceOf(Promise);
      await eventually(() => expect(unwraps).to.equal(2));
    });

    it('have half of their time left at least where key management goes away, and not more than all of it', async () => {
      const dataKeys = createProcess();
      const { id } = await dataKeys.forSealing(tenantId, 1);
      now += TTL / 2;
      void dataKeys.forOpening(tenantId, id);
      void dataKeys.forSealing(tenantId, 1);
      // One more, where one of both looks only after the other has been given its own.
      await eventually(() => expect(buffers).to.have.length.within(3, 4));
      await eventually(() => expect(buffers.every(isZero)).to.equal(true));
      outage = true;
      now += TTL - 1;
      expect(await dataKeys.forOpening(tenantId, id)).not.to.equal(undefined);
      expect((await dataKeys.forSealing(tenantId, 1)).id).to.deep.equal(id);
      now += 1;
      const outcomes = await Promise.allSettled([dataKeys.forOpening(tenantId, id), dataKeys.forSealing(tenantId, 1)]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    });

    it('press on an outage once in a while only, and serve meanwhile', async () => {
      const dataKeys = createProcess();
      const { id } = await dataKeys.forSealing(tenantId, 1);
      now += TTL / 2;
      beforeUnwrap = () => Promise.reject(new DomainError('unavailable', 'key management is unreachable'));
      for (let use = 0; use < 100; use++) expect(await dataKeys.forOpening(tenantId, id)).not.to.equal(undefined);
      await eventually(() => expect(unwraps).to.equal(1));
      now += TTL / 60;
      expect(await dataKeys.forOpening(tenantId, id)).not.to.equal(undefined);
      await eventually(() => expect(unwraps).to.equal(2));
    });

    it('leave no buffer with a key behind, also where they cannot be stored or are another process’s', async () => {
      const store = createDataKeyStore(test.database);
      await createProcess().forSealing(tenantId, 1);
      const { id } = await createProcess().forSealing(tenantId, 1);
      await createProcess().forOpening(tenantId, id);
      const failing = createProcess({
        ...store,
        findActive: async () => undefined,
        activate: () => Promise.reject(new DomainError('unavailable', 'Postgres is unreachable')),
      });
      const [failure] = await Promise.allSettled([failing.forSealing(tenantId, 1)]);
      expect(failure.status).to.equal('rejected');
      let looks = 0;
      const late = createProcess({
        ...store,
        findActive: (...asked) => (looks++ === 0 ? Promise.resolve(undefined) : store.findActive(...asked)),
      });
      expect((await late.forSealing(tenantId, 1)).id).to.deep.equal(id);
      expect(buffers).to.have.length(6);
      expect(buffers.every(isZero)).to.equal(true);
    });

    it('are one for twenty replicas that ask for the first at the same time, whoever wins', async () => {
      const several = Array.from({ length: 20 }, () => createProcess());
      const ids = await Promise.all(
        several.map(async (each) => (await each.forSealing(tenantId, 1)).id.toString('hex')),
      );
      expect(new Set(ids).size).to.equal(1);
      const rows = await test.database.run({ text: 'select from data_keys where tenant_id = $1' }, [tenantId]);
      expect(rows).to.have.length(1);
    });

    it('are read again, once, where they were rewrapped and the old version retired since their row was read', async () => {
      const { id } = await createProcess().forSealing(tenantId, 1);
      const store = createDataKeyStore(test.database);
      const idText = (await store.findActive(tenantId, 'data'))!.id;
      beforeUnwrap = async () => {
        beforeUnwrap = async () => undefined;
        const { wrapped } = (await store.find(tenantId, idText))!;
        await custodian.rotate('tokens');
        const moved = await custodian.rewrapDataKey('tokens', tenantId, wrapped);
        await test.database.run({ text: 'update data_keys set wrapped = $1 where tenant_id = $2' }, [moved, tenantId]);
        await custodian.retire('tokens', (await real.versions('tokens')).current);
      };
      expect(await createProcess().forOpening(tenantId, id)).not.to.equal(undefined);
      expect(unwraps).to.equal(2);
    });

    it('are gone for who reads their row just before it is deleted', async () => {
      const { id } = await createProcess().forSealing(tenantId, 1);
      beforeUnwrap = async () => {
        await test.database.run({ text: 'delete from data_keys where tenant_id = $1' }, [tenantId]);
        throw new Error('a data key does not unwrap');
      };
      expect(await createProcess().forOpening(tenantId, id)).to.equal(undefined);
    });

    it('are never stored under a version that is being retired: another one is made', async () => {
      const { management, master } = { management: real.name, master: 'tokens' } as const;
      const store = createDataKeyStore(test.database);
      let attempts = 0;
      const dataKeys = createProcess({
        ...store,
        async activate(key, replaces) {
          if (attempts++ === 0) {
            await custodian.rotate('tokens');
            await raiseFence(test.database, { management, master }, (await real.versions('tokens')).current);
          }
          return store.activate(key, replaces);
        },
      });
      await dataKeys.forSealing(tenantId, 1);
      expect(attempts).to.equal(2);
      const { current } = await real.versions('tokens');
      expect((await store.findActive(tenantId, 'data'))!.wrapped).to.match(new RegExp(`^\\w+:v${current}:`));
    });

    it('are not made at all by a key management that is older than what was retired', async () => {
      const { current } = await real.versions('cvc');
      await raiseFence(test.database, { management: real.name, master: 'cvc' }, current + 1);
      const [outcome] = await Promise.allSettled([createProcess().forSealingCvc(tenantId, 3600_000, 1)]);
      expect(outcome).to.have.nested.property('reason.kind', 'unavailable');
      expect(outcome).to.have.nested.property('reason.message').that.includes('put its newest state back');
      expect(buffers.every(isZero)).to.equal(true);
    });
  });
}

function isZero(buffer: Buffer): boolean {
  return buffer.every((byte) => byte === 0);
}
