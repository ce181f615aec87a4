import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDataKeyStore } from '../../../src/data/data-keys.ts';
import type { InvocationRow } from '../../../src/data/invocations.ts';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import { createDataKeys, type DataKeys } from '../../../src/keys/data-keys.ts';
import type { KeyManagement } from '../../../src/keys/key-management.ts';
import { createSealer } from '../../../src/keys/sealing.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createInvocationVault, type InvocationVault } from '../../../src/services/reactors/asynchronous/vault.ts';
import { KEY_MANAGEMENTS, type TestKeys } from '../../support/key-managements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { storedTenant } from '../../support/rows.ts';
import { alterations, INVOCATION_COLUMNS } from '../../support/sealed-columns.ts';

const PROPERTIES = { args: 'args', callback_url: 'callbackUrl', result: 'result' } as const;

describe('a sealed value of an asynchronous invocation', () => {
  let test: TestDatabase;
  let keys: TestKeys;
  let management: KeyManagement;
  let dataKeys: DataKeys;
  let vault: InvocationVault;
  let row: InvocationRow;

  before(async function () {
    keys = await KEY_MANAGEMENTS[0]!.create(this);
    management = await keys.open();
    test = await createTestDatabase();
    dataKeys = createDataKeys({ management, store: createDataKeyStore(test.database), clock: systemClock });
    vault = createInvocationVault(createSealer(dataKeys));
    row = await newRow(await storedTenant(test.database));
  });
  after(async () => {
    dataKeys.close();
    await test.dispose();
    await management.close();
    await keys.dispose();
  });

  async function newRow(tenantId: string): Promise<InvocationRow> {
    const key = { tenantId, id: randomUUID(), reactorId: randomUUID(), applicationId: randomUUID() };
    const sealed = await vault.sealRequest(key, { args: { a: 'plain' }, callbackUrl: 'https://example.com/' });
    const result = await vault.sealResult(key, { status: 200, body: { raw: 'plain' } });
    return { ...key, ...sealed, result, traceId: 'x', state: 'done', sealedFormat: SEALED_FORMAT, endedAt: new Date() };
  }

  function open(column: (typeof INVOCATION_COLUMNS)[number], changed: Partial<InvocationRow> = {}): Promise<unknown> {
    const at = { ...row, ...changed };
    if (column === 'args') return vault.openArgs(at);
    return column === 'result' ? vault.openResult(at) : vault.openCallbackUrl(at);
  }

  for (const column of INVOCATION_COLUMNS) {
    const property = PROPERTIES[column];

    it(`opens as it was sealed: ${column}`, async () => {
      const sealed = { args: { a: 'plain' }, callback_url: 'https://example.com/' };
      const expected = { ...sealed, result: { status: 200, body: { raw: 'plain' } } };
      expect(await open(column)).to.deep.equal(expected[column]);
    });

    it(`is refused changed, cut off or lengthened: ${column}`, async () => {
      for (const [what, altered] of alterations(row[property]!, 'some bytes')) {
        expect(await open(column, { [property]: altered }), what).to.equal(undefined);
      }
    });

    it(`is refused in the place of every other one: ${column}`, async () => {
      const others = [row, await newRow(row.tenantId), await newRow(await storedTenant(test.database))];
      for (const other of others) {
        for (const from of INVOCATION_COLUMNS) {
          if (other === row && from === column) continue;
          const moved = { [property]: other[PROPERTIES[from]] };
          expect(await open(column, moved), `${from}, of ${others.indexOf(other)}`).to.equal(undefined);
        }
      }
    });

    it(`is refused for another reactor, application, tenant or id, or of another format: ${column}`, async () => {
      for (const name of ['reactorId', 'applicationId', 'id'] as const) {
        expect(await open(column, { [name]: randomUUID() }), name).to.equal(undefined);
      }
      expect(await open(column, { tenantId: await storedTenant(test.database) })).to.equal(undefined);
      expect(await open(column, { sealedFormat: 1 })).to.equal(undefined);
    });
  }
});
