import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import type { StoredDataKey } from '../../../src/domain/data-keys.ts';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import { createDataKeys } from '../../../src/keys/data-keys.ts';
import { createKeyedHasher, type KeyedHasher } from '../../../src/keys/keyed-hashes.ts';
import { createSealer, type SealedPlace, type SealedValue, type Sealer } from '../../../src/keys/sealing.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

for (const { name, create } of KEY_MANAGEMENTS) {
  describe(`sealing and hashing over stored data keys and ${name}`, () => {
    let test: TestDatabase;
    let keys: TestKeys;
    let tenantId: string;
    let otherTenantId: string;
    let sealer: Sealer;
    let hasher: KeyedHasher;
    /** What has been reported. */
    const broken: SealedPlace[] = [];
    const brokenKeys: StoredDataKey[] = [];
    /** What is found at a place. */
    const found = (at: SealedPlace, sealed: Buffer): SealedValue => ({ place: at, format: SEALED_FORMAT, sealed });
    const place = (rowId: string, tenant = tenantId) => ({
      tenantId: tenant,
      table: 'tokens',
      rowId,
      column: 'data',
      version: '1',
    });

    async function createProcess(): Promise<{ sealer: Sealer; hasher: KeyedHasher }> {
      const management = await keys.open();
      const dataKeys = createDataKeys({
        ...{ management, store: createDataKeyStore(test.database), clock: systemClock },
        onBroken: (key) => brokenKeys.push(key),
      });
      return {
        sealer: createSealer(dataKeys, { onBroken: (at) => broken.push(at) }),
        hasher: createKeyedHasher(dataKeys),
      };
    }

    async function open(process: { sealer: Sealer }, at: SealedPlace, sealed: Buffer): Promise<string | undefined> {
      const [opened] = await process.sealer.openMany([found(at, sealed)]);
      return opened?.toString();
    }

    before(async function () {
      keys = await create(this);
      test = await createTestDatabase();
      tenantId = await storedTenant(test.database);
      otherTenantId = await storedTenant(test.database);
      ({ sealer, hasher } = await createProcess());
    });
    after(async () => {
      await test?.dispose();
      await keys?.dispose();
    });

    beforeEach(() => {
      broken.length = 0;
      brokenKeys.length = 0;
    });

    it('opens in another process what this one sealed', async () => {
      const sealed = await sealer.seal(place('a'), 'secret');
      expect(await open(await createProcess(), place('a'), sealed)).to.equal('secret');
    });

    it('seals many values of several tenants, in order', async () => {
      const places = [place('a'), place('b', otherTenantId), place('c')];
      const sealed = await sealer.sealMany(places.map((at, index) => ({ place: at, plaintext: `value ${index}` })));
      const opened = await sealer.openMany(places.map((at, index) => found(at, sealed[index]!)));
      expect(opened.map(String)).to.deep.equal(['value 0', 'value 1', 'value 2']);
    });

    it('refuses those of many that were swapped, and opens the rest', async () => {
      const [first, second, third] = await sealer.sealMany(
        ['a', 'b', 'c'].map((row) => ({ place: place(row), plaintext: row })),
      );
      const values = [found(place('a'), second!), found(place('b'), first!), found(place('c'), third!)];
      expect((await sealer.openMany(values)).map((opened) => opened?.toString())).to.deep.equal([
        undefined,
        undefined,
        'c',
      ]);
      expect(broken.map(({ rowId }) => rowId)).to.deep.equal(['a', 'b']);
    });

    it('refuses a value of another tenant, even with the row of its key copied', async () => {
      const sealed = await sealer.seal(place('a'), 'secret');
      expect(await open({ sealer }, place('a', otherTenantId), sealed)).to.equal(undefined);
      await test.database.run(
        {
          text: `
          insert into data_keys (tenant_id, data_key_id, purpose, wrapped, active, uses, created_at)
          select $1, data_key_id, purpose, wrapped, false, uses, created_at from data_keys
          where tenant_id = $2 and purpose = 'data'`,
        },
        [otherTenantId, tenantId],
      );
      expect(await open(await createProcess(), place('a', otherTenantId), sealed)).to.equal(undefined);
      expect(brokenKeys.map(({ tenantId: tenant }) => tenant)).to.deep.equal([otherTenantId]);
    });

    it('refuses what is no sealed value', async () => {
      for (const junk of [Buffer.alloc(0), Buffer.from('{"number":"4242"}'), randomBytes(200)]) {
        expect(await open({ sealer }, place('a'), junk)).to.equal(undefined);
      }
    });

    it('gives no code back once its key is destroyed', async () => {
      const at = { ...place('a'), column: 'cvc' };
      const sealed = await sealer.sealCvc(at, '123', 3600);
      expect(await open({ sealer }, at, sealed)).to.equal('123');
      await test.database.run({ text: `delete from data_keys where purpose = 'cvc'` });
      expect(await open(await createProcess(), at, sealed)).to.equal(undefined);
    });

    it('fingerprints alike in every process, and differently by type, value and tenant', async () => {
      const fingerprint = await hasher.fingerprint(tenantId, 'card', '4242');
      expect(await (await createProcess()).hasher.fingerprint(tenantId, 'card', '4242')).to.deep.equal(fingerprint);
      const others = await Promise.all([
        hasher.fingerprint(tenantId, 'card_number', '4242'),
        hasher.fingerprint(tenantId, 'card4', '242'),
        hasher.fingerprint(tenantId, 'card', '4243'),
        hasher.fingerprint(otherTenantId, 'card', '4242'),
        hasher.searchHash(tenantId, '4242'),
      ]);
      expect(new Set([fingerprint, ...others].map((hash) => hash.toString('hex'))).size).to.equal(6);
      expect(fingerprint).to.have.length(32);
    });

    it('hashes search values alike in every process, and differently by tenant', async () => {
      const hash = await hasher.searchHash(tenantId, 'x');
      expect(await (await createProcess()).hasher.searchHash(tenantId, 'x')).to.deep.equal(hash);
      expect(await hasher.searchHash(otherTenantId, 'x')).not.to.deep.equal(hash);
    });
  });
}
