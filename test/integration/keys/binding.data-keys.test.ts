import { expect } from 'chai';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import type { DataKeyPurpose } from '../../../src/domain/data-keys.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import { createDataKeys, type DataKeys } from '../../../src/keys/data-keys.ts';
import { createKeyedHasher } from '../../../src/keys/keyed-hashes.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { createSealer, type SealedPlace } from '../../../src/keys/sealing.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';

interface KeyRow {
  tenantId: string;
  id: string;
  purpose: DataKeyPurpose;
  wrapped: string;
  active: boolean;
}

for (const { name, create } of KEY_MANAGEMENTS)
  describe(`a data key in the database, wrapped by ${name}`, function () {
    this.timeout(300_000);

    let test: TestDatabase;
    let keys: TestKeys;
    let management: KeyManagement;
    let tenantId: string;
    let otherTenantId: string;
    let rows: KeyRow[];
    let sealed: { data: Buffer; cvc: Buffer };
    let hashes: { fingerprint: Buffer; search: Buffer };
    const broken: string[] = [];
    const processes: DataKeys[] = [];

    const place = (tenant = tenantId): SealedPlace => ({
      ...{ tenantId: tenant, table: 'tokens', rowId: 'a', column: 'data', version: '1' },
    });

    /** With nothing in memory. */
    function createProcess() {
      const store = createDataKeyStore(test.database);
      const dataKeys = createDataKeys({ management, store, clock: systemClock, onBroken: ({ id }) => broken.push(id) });
      processes.push(dataKeys);
      return { sealer: createSealer(dataKeys), hasher: createKeyedHasher(dataKeys) };
    }

    type Process = ReturnType<typeof createProcess>;

    before(async function () {
      keys = await create(this);
      management = await keys.open();
      test = await createTestDatabase();
      tenantId = await storedTenant(test.database);
      otherTenantId = await storedTenant(test.database);
      const process = createProcess();
      for (const tenant of [otherTenantId, tenantId]) {
        const [data] = await process.sealer.sealMany([{ place: place(tenant), plaintext: 'secret' }]);
        sealed = { data: data!, cvc: await process.sealer.sealCvc(place(tenant), '123', 3_600) };
        hashes = {
          fingerprint: await process.hasher.fingerprint(tenant, 'token', 'x'),
          search: await process.hasher.searchHash(tenant, 'x'),
        };
      }
      rows = await test.database.run<KeyRow>({
        text: 'select tenant_id as "tenantId", data_key_id as "id", purpose, wrapped, active from data_keys',
      });
      expect(rows).to.have.length(8);
    });
    after(async () => {
      processes.forEach((process) => process.close());
      await test.dispose();
      await keys.dispose();
    });
    beforeEach(() => {
      broken.length = 0;
    });

    const rowOf = (purpose: DataKeyPurpose, tenant = tenantId): KeyRow =>
      rows.find((row) => row.purpose === purpose && row.tenantId === tenant)!;

    async function setWrapped({ tenantId: tenant, id }: KeyRow, wrapped: string): Promise<void> {
      const text = 'update data_keys set wrapped = $3 where tenant_id = $1 and data_key_id = $2';
      await test.database.run({ text }, [tenant, id, wrapped]);
    }

    async function outcome(work: Promise<Buffer | (Buffer | undefined)[]>): Promise<string> {
      try {
        const result = await work;
        return Array.isArray(result) ? String(result[0]) : result.toString('hex');
      } catch (error) {
        expect(error).to.be.instanceOf(DomainError);
        return (error as DomainError).kind;
      }
    }

    /** What a process that holds no key makes of a purpose's key: what it gives back, or how it refuses. */
    async function use(purpose: DataKeyPurpose, { sealer, hasher }: Process): Promise<string[]> {
      if (purpose === 'fingerprint') return [await outcome(hasher.fingerprint(tenantId, 'token', 'x'))];
      if (purpose === 'search') return [await outcome(hasher.searchHash(tenantId, 'x'))];
      const opened = await outcome(
        sealer.openMany([{ place: place(), format: SEALED_FORMAT, sealed: sealed[purpose] }]),
      );
      const again = purpose === 'data' ? sealer.seal(place(), 'new') : sealer.sealCvc(place(), '456', 3_600);
      const resealed = await outcome(again);
      return [opened, resealed === 'unavailable' ? resealed : 'sealed'];
    }

    const WHOLE = (): Record<DataKeyPurpose, string[]> => ({
      data: ['secret', 'sealed'],
      cvc: ['123', 'sealed'],
      fingerprint: [hashes.fingerprint.toString('hex')],
      search: [hashes.search.toString('hex')],
    });
    const REFUSED: Record<DataKeyPurpose, string[]> = {
      data: ['undefined', 'unavailable'],
      cvc: ['undefined', 'unavailable'],
      fingerprint: ['unavailable'],
      search: ['unavailable'],
    };

    /** The forms that an attacker can put there: altered, cut short, and that of every other key. */
    function* attacksOn(row: KeyRow): Generator<[what: string, wrapped: string]> {
      const { wrapped } = row;
      const body = wrapped.lastIndexOf(':') + 1;
      for (let at = body; at < wrapped.length - 3; at += 4) {
        const other = wrapped[at] === 'A' ? 'B' : 'A';
        yield [`character ${at} replaced`, wrapped.slice(0, at) + other + wrapped.slice(at + 1)];
        yield [`cut to ${at} characters`, wrapped.slice(0, at)];
      }
      yield ['another version', wrapped.replace(/:v\d+:/, ':v9:')];
      for (const other of rows) {
        if (other.id !== row.id) yield [`that of ${other.purpose} of ${other.tenantId}`, other.wrapped];
      }
    }

    for (const purpose of ['data', 'cvc', 'fingerprint', 'search'] as const) {
      it(`is refused, whatever else stands in its place: ${purpose}`, async function () {
        const row = rowOf(purpose);
        expect(await use(purpose, createProcess())).to.deep.equal(WHOLE()[purpose]);
        let count = 0;
        for (const [what, wrapped] of attacksOn(row)) {
          // No form of a wrapped key at all is for the table's own constraints to refuse.
          try {
            await setWrapped(row, wrapped);
          } catch {
            continue;
          }
          expect(await use(purpose, createProcess()), what).to.deep.equal(REFUSED[purpose]);
          count += 1;
        }
        expect(new Set(broken)).to.deep.equal(new Set([row.id]));
        await setWrapped(row, row.wrapped);
        expect(await use(purpose, createProcess())).to.deep.equal(WHOLE()[purpose]);
        this.test!.title += ` (${count} attacks)`;
      });
    }

    it('does not serve under the id of another key of its purpose', async () => {
      const row = rowOf('data');
      await test.database.run({ text: 'update data_keys set active = false where data_key_id = $1' }, [row.id]);
      const { sealer } = createProcess();
      await sealer.seal(place(), 'under the next key');
      const [next] = await test.database.run<KeyRow>(
        {
          text: `select tenant_id as "tenantId", data_key_id as "id", purpose, wrapped, active from data_keys
          where tenant_id = $1 and purpose = 'data' and active`,
        },
        [tenantId],
      );
      await setWrapped(next!, row.wrapped);
      await setWrapped(row, next!.wrapped);
      expect(await use('data', createProcess())).to.deep.equal(REFUSED.data);
      await setWrapped(next!, next!.wrapped);
      await setWrapped(row, row.wrapped);
      expect(await use('data', createProcess())).to.deep.equal(WHOLE().data);
    });
  });
