import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listLogs } from '../../../src/data/logs.ts';
import {
  deleteReactor,
  getReactor,
  insertReactor,
  listAllReactors,
  pageOfReactors,
  replaceReactor,
  type ReactorRow,
  upsertReactor,
} from '../../../src/data/reactors.ts';
import { SEALED_FORMAT } from '../../../src/domain/sealed-format.ts';
import type { LogOperation } from '../../../src/domain/logs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, newReactor, storedTenant } from '../../support/rows.ts';

describe('reactors in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;

  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());
  beforeEach(async () => {
    tenantId = await storedTenant(test.database);
  });

  const log = (id: string, operation: LogOperation = 'create') =>
    newLog(tenantId, id, { operation, entityType: 'reactor' });
  const insert = async (overrides: Parameters<typeof newReactor>[1] = {}) => {
    const reactor = newReactor(tenantId, overrides);
    await insertReactor(test.database, reactor, log(reactor.id));
    return reactor;
  };
  const operations = async (): Promise<string[]> =>
    (await listLogs(test.database, { tenantId, retentionSeconds: 60, limit: 100 })).map(({ operation }) => operation);

  it('come back as they were stored, and among those of all tenants', async () => {
    const reactor = await insert({
      ...{ applicationId: randomUUID(), memoryBytes: 8 * 2 ** 30 },
      egress: { allow: ['api.example.com:443'] },
    });
    const stored = { ...reactor, sealedFormat: SEALED_FORMAT, modifiedBy: null, modifiedAt: null };
    expect(await getReactor(test.database, tenantId, reactor.id)).to.deep.equal(stored);
    expect(await getReactor(test.database, randomUUID(), reactor.id)).to.equal(undefined);
    expect(await listAllReactors(test.database)).to.deep.include(stored);
  });

  for (const [pattern, expected] of [
    ['charge_card', ['charge_card']],
    ['CHARGE*', ['chargeXcard', 'charge_card']],
    ['*card', ['chargeXcard', 'charge_card']],
    ['%card', []],
    ['charge_c*', ['charge_card']],
    ['charge', []],
    ['50\\*', ['50\\ off']],
  ] as const) {
    it(`are found by name: ${pattern}`, async () => {
      for (const [index, name] of ['charge_card', 'chargeXcard', '50\\ off'].entries()) {
        await insert({ name, createdAt: new Date(Date.UTC(2026, 0, index + 1)) });
      }
      const { rows, total } = await pageOfReactors(test.database, { tenantId, name: pattern }, { page: 1, size: 10 });
      expect(rows.map(({ name }) => name)).to.deep.equal(expected);
      expect(total).to.equal(expected.length);
    });
  }

  it('come in pages, narrowed by ids', async () => {
    const made = [await insert(), await insert(), await insert()];
    const filter = { tenantId, ids: [made[0]!.id, made[1]!.id] };
    const { rows, total } = await pageOfReactors(test.database, filter, { page: 2, size: 1 });
    expect(rows).to.have.length(1);
    expect(total).to.equal(2);
  });

  it('are replaced, unless they changed since the reading that a change is based on', async () => {
    const reactor = await insert();
    const change = {
      ...{ tenantId, id: reactor.id, name: 'renamed', code: Buffer.from('c2'), configuration: Buffer.from('k2') },
      ...{ applicationId: null, revision: 'two', modifiedBy: randomUUID(), modifiedAt: new Date() },
    };
    const read = { revision: 'one', modifiedAt: null };
    const replaced = await replaceReactor(test.database, change, log(reactor.id, 'update'), read);
    expect(replaced).to.deep.equal({ ...reactor, ...change, sealedFormat: SEALED_FORMAT });
    expect(await replaceReactor(test.database, change, log(reactor.id, 'update'), read)).to.equal(undefined);
    expect(await replaceReactor(test.database, change, log(reactor.id, 'update'))).not.to.equal(undefined);
    expect(await operations()).to.deep.equal(['update', 'update', 'create']);
  });

  it('are not replaced where only their name changed meanwhile, which leaves the revision', async () => {
    const reactor = await insert();
    const read = { ...reactor, modifiedAt: null };
    const rename = (name: string, modifiedAt: Date, basedOn: typeof read | ReactorRow | undefined) =>
      replaceReactor(
        test.database,
        { ...reactor, name, modifiedBy: randomUUID(), modifiedAt },
        log(reactor.id, 'update'),
        basedOn,
      );
    const now = Date.now();
    const first = await rename('first', new Date(now), read);
    expect(await rename('second', new Date(now + 1), read)).to.equal(undefined);
    expect(await rename('third', new Date(now + 1), first)).to.have.property('name', 'third');
  });

  it('are deleted once', async () => {
    const { id } = await insert();
    const remove = () => deleteReactor(test.database, tenantId, id, log(id, 'delete'));
    expect([await remove(), await remove()]).to.deep.equal([true, false]);
    expect(await operations()).to.deep.equal(['delete', 'create']);
  });

  it('are put as declared: the same revision sealed anew is no change', async () => {
    const reactor = newReactor(tenantId, { declared: true });
    const put = (overrides: Parameters<typeof newReactor>[1] = {}) => {
      const logs = [log(reactor.id, 'create'), log(reactor.id, 'update')];
      return upsertReactor(test.database, { ...reactor, ...overrides }, logs);
    };
    expect(await put()).to.equal('created');
    expect(await put({ code: Buffer.from('sealed again') })).to.equal('unchanged');
    expect(await put({ code: Buffer.from('other'), revision: 'two' })).to.equal('updated');
    expect(await put({ timeoutSeconds: 5, revision: 'two' })).to.equal('updated');
    expect(await put({ egress: { allow: [] }, revision: 'three' })).to.equal('updated');
    expect(await put({ egress: { allow: [] }, revision: 'three' })).to.equal('unchanged');
    expect(await put({ egress: null, revision: 'three' })).to.equal('updated');
    expect(await operations()).to.deep.equal([...Array<string>(4).fill('update'), 'create']);
  });
});
