import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  deleteApplication,
  getApplication,
  insertApplication,
  pageOfApplications,
  replaceApplication,
  sweepExpiredApplications,
  upsertApplication,
} from '../../../src/data/applications.ts';
import { listLogs } from '../../../src/data/logs.ts';
import type { LogOperation } from '../../../src/domain/logs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { EARLIER, LATER, newApplication, newLog, storedTenant } from '../../support/rows.ts';

describe('applications in Postgres', () => {
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
    newLog(tenantId, id, { operation, entityType: 'application' });
  const operations = async (): Promise<string[]> =>
    (await listLogs(test.database, { tenantId, retentionSeconds: 60, limit: 100 })).map(({ operation }) => operation);
  const insert = async (overrides: Parameters<typeof newApplication>[1] = {}) => {
    const application = newApplication(tenantId, overrides);
    await insertApplication(test.database, application, log(application.id));
    return application;
  };

  it('come back as they were stored', async () => {
    const rules = [
      { priority: 1, container: '/pci/', transform: 'mask' as const, permissions: ['token:read' as const] },
    ];
    const application = await insert({ rules, expiresAt: LATER(), createdBy: randomUUID() });
    const found = await getApplication(test.database, tenantId, application.id);
    expect(found).to.deep.equal({ ...application, modifiedBy: null, modifiedAt: null });
    expect(await getApplication(test.database, await storedTenant(test.database), application.id)).to.equal(undefined);
    expect(await operations()).to.deep.equal(['create']);
  });

  it('are gone once they expire, and swept with a log entry, but for declared ones', async () => {
    const expired = await insert({ expiresAt: EARLIER() });
    await insert({ expiresAt: EARLIER(), declared: true });
    await insert({ expiresAt: LATER() });
    expect(await getApplication(test.database, tenantId, expired.id)).to.equal(undefined);
    expect(await sweepExpiredApplications(test.maintenance)).to.equal(1);
    expect(await sweepExpiredApplications(test.maintenance)).to.equal(0);
    expect((await operations()).filter((operation) => operation === 'expire')).to.have.length(1);
  });

  it('come in pages, newest first, narrowed by ids and type', async () => {
    const made: { id: string }[] = [];
    for (const [index, type] of (['private', 'public', 'private'] as const).entries()) {
      made.push(await insert({ type, createdAt: new Date(Date.UTC(2026, 0, index + 1)) }));
    }
    const page = async (filter: { ids?: string[]; types?: ('private' | 'public')[] } = {}, size = 10, number = 1) => {
      const { rows, total } = await pageOfApplications(test.database, { tenantId, ...filter }, { page: number, size });
      return { indexes: rows.map(({ id }) => made.findIndex((application) => application.id === id)), total };
    };
    expect(await page()).to.deep.equal({ indexes: [2, 1, 0], total: 3 });
    expect(await page({}, 2, 2)).to.deep.equal({ indexes: [0], total: 3 });
    expect(await page({ types: ['private'] })).to.deep.equal({ indexes: [2, 0], total: 2 });
    expect(await page({ types: ['private', 'public'] })).to.deep.equal({ indexes: [2, 1, 0], total: 3 });
    expect(await page({ types: [] })).to.have.property('total', 3);
    expect(await page({ ids: [made[1]!.id, randomUUID()] })).to.deep.equal({ indexes: [1], total: 1 });
    expect(await page({ ids: [] })).to.have.property('total', 3);
  });

  it('are replaced in name and access only', async () => {
    const application = await insert();
    const change = {
      ...{ tenantId, id: application.id, name: 'renamed', permissions: ['token:create' as const], rules: [] },
      ...{ modifiedBy: randomUUID(), modifiedAt: new Date() },
    };
    const replaced = await replaceApplication(test.database, change, log(application.id, 'update'));
    expect(replaced).to.deep.equal({ ...application, ...change });
    const missing = { ...change, id: randomUUID() };
    expect(await replaceApplication(test.database, missing, log(missing.id, 'update'))).to.equal(undefined);
    expect(await operations()).to.deep.equal(['update', 'create']);
  });

  it('are deleted once', async () => {
    const { id } = await insert();
    expect(await deleteApplication(test.database, tenantId, id, log(id, 'delete'))).to.equal(true);
    expect(await deleteApplication(test.database, tenantId, id, log(id, 'delete'))).to.equal(false);
    expect(await operations()).to.deep.equal(['delete', 'create']);
  });

  it('are put as declared: created, left alone, updated, each with the log entry that fits', async () => {
    const application = newApplication(tenantId, { declared: true });
    const put = (overrides: Parameters<typeof newApplication>[1] = {}) => {
      const logs = [log(application.id, 'create'), log(application.id, 'update')];
      return upsertApplication(test.database, { ...application, createdAt: LATER(), ...overrides }, logs);
    };
    expect(await put({ createdAt: application.createdAt })).to.equal('created');
    expect(await put()).to.equal('unchanged');
    expect(await put({ permissions: ['token:read', 'token:create'] })).to.equal('updated');
    expect(await operations()).to.deep.equal(['update', 'create']);
    const found = await getApplication(test.database, tenantId, application.id);
    expect(found?.createdAt).to.deep.equal(application.createdAt);
    expect(found?.modifiedAt).to.be.instanceOf(Date);
  });
});
