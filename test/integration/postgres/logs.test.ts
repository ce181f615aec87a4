import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  clearUnpartitionedLogs,
  dropLogPartitions,
  insertLogs,
  listLogs,
  makeLogPartitions,
  type LogQuery,
} from '../../../src/data/logs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, storedTenant } from '../../support/rows.ts';
import { DEFAULT_QUOTAS } from '../../../src/domain/tenants.ts';

const HOUR = 3600_000;

describe('the audit log in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;
  const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);
  const list = (query: Partial<LogQuery> = {}) =>
    listLogs(test.database, { tenantId, retentionSeconds: 24 * 3600, limit: 100, ...query });

  beforeEach(async () => {
    test = await createTestDatabase();
    tenantId = await storedTenant(test.database);
  });
  afterEach(() => test.dispose());

  async function partitions(): Promise<string[]> {
    const rows = await test.database.run<{ name: string }>({
      text: `select relname as name from pg_class where relname ~ '^logs_[0-9]{10}$' order by relname`,
    });
    return rows.map(({ name }) => name);
  }

  it('gives entries back as they were written', async () => {
    const entry = newLog(tenantId, 'card-1', { actorId: randomUUID(), entityType: 'card', operation: 'detokenize' });
    await insertLogs(test.database, [entry]);
    expect(await list()).to.deep.equal([entry]);
  });

  it('takes many entries at once, or none', async () => {
    await insertLogs(test.database, []);
    await insertLogs(
      test.database,
      Array.from({ length: 60 }, () => newLog(tenantId, 'x')),
    );
    expect(await list()).to.have.length(60);
  });

  it('lists newest first within filters, retention and tenant', async () => {
    await insertLogs(test.database, [
      newLog(tenantId, 'a', { createdAt: ago(4000) }),
      newLog(tenantId, 'b', { createdAt: ago(3000), entityType: 'application' }),
      newLog(tenantId, 'a', { createdAt: ago(2000), entityType: 'application' }),
      newLog(tenantId, 'old', { createdAt: ago(25 * HOUR) }),
      newLog(randomUUID(), 'a'),
    ]);
    const names = async (query: Partial<LogQuery>) =>
      (await list(query)).map(({ entityType, entityId }) => `${entityType} ${entityId}`);
    expect(await names({})).to.deep.equal(['application a', 'application b', 'token a']);
    expect(await names({ entityType: 'application' })).to.deep.equal(['application a', 'application b']);
    expect(await names({ entityType: 'application', entityId: 'a' })).to.deep.equal(['application a']);
    expect(await names({ retentionSeconds: 26 * 3600 })).to.include('token old');
  });

  it('keeps what is at or after a start and before an end', async () => {
    const times = [5000, 4000, 3000].map(ago);
    await insertLogs(
      test.database,
      times.map((createdAt) => newLog(tenantId, 'x', { createdAt })),
    );
    const found = await list({ from: times[0]!, until: times[2]! });
    expect(found.map(({ createdAt }) => createdAt)).to.deep.equal([times[1], times[0]]);
  });

  it('gives every entry once by cursor', async () => {
    const createdAt = ago(1000);
    const entries = Array.from({ length: 9 }, () => newLog(tenantId, 'x', { createdAt }));
    await insertLogs(test.database, entries);
    const seen: string[] = [];
    for (let page = await list({ limit: 2 }); page.length > 0; page = await list({ limit: 2, after: page.at(-1)! })) {
      seen.push(...page.map(({ id }) => id));
    }
    expect(seen).to.deep.equal(
      entries
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
  });

  it('has its partitions made ahead, once, however many make them', async () => {
    const made = await Promise.all([1, 2, 3].map(() => makeLogPartitions(test.maintenance, 10)));
    expect(made.reduce((sum, count) => sum + count)).to.be.within(6, 8);
    expect((await partitions()).length).to.be.within(11, 12);
    await insertLogs(test.database, [newLog(tenantId, 'x', { createdAt: new Date(Date.now() + 9 * HOUR) })]);
    const [row] = await test.database.run<{ count: number }>({
      text: 'select count(*)::integer as count from logs_default',
    });
    expect(row!.count).to.equal(0);
  });

  it('takes entries of an hour without a partition, and leaves that hour where they are', async () => {
    const later = new Date(Date.now() + 8 * HOUR);
    await insertLogs(test.database, [newLog(tenantId, 'x', { createdAt: later })]);
    await makeLogPartitions(test.maintenance, 10);
    await insertLogs(test.database, [newLog(tenantId, 'y', { createdAt: later })]);
    const hour = `logs_${later.toISOString().replaceAll(/\D/g, '').slice(0, 10)}`;
    expect(await partitions()).not.to.include(hour);
    expect(await list()).to.have.length(2);
  });

  it('drops what is past the retention of every tenant, and no more', async () => {
    await test.database.run({
      text: `
        create table logs_2020010100 partition of logs
        for values from ('2020-01-01 00:00+00') to ('2020-01-01 01:00+00')`,
    });
    await insertLogs(test.database, [
      newLog(tenantId, 'x', { createdAt: new Date('2020-01-01T00:30:00Z') }),
      newLog(tenantId, 'y', { createdAt: new Date('2020-02-01T00:30:00Z') }),
      newLog(tenantId, 'z'),
    ]);
    const century = { ...DEFAULT_QUOTAS, logRetentionSeconds: 100 * 365 * 24 * 3600 };
    const patient = await storedTenant(test.database, { quotas: century });
    expect(await dropLogPartitions(test.maintenance)).to.equal(0);
    expect(await clearUnpartitionedLogs(test.maintenance, 10)).to.equal(0);
    await test.database.run({ text: 'delete from tenants where tenant_id = $1' }, [patient]);
    expect(await dropLogPartitions(test.maintenance)).to.equal(1);
    expect(await clearUnpartitionedLogs(test.maintenance, 10)).to.equal(1);
    expect(await partitions()).not.to.include('logs_2020010100');
    const left = await list({ retentionSeconds: 100 * 365 * 24 * 3600 });
    expect(left.map(({ entityId }) => entityId)).to.deep.equal(['z']);
  });
});
