import { expect } from 'chai';
import {
  clearUnpartitionedLogs,
  dropLogPartitions,
  insertLogs,
  listLogs,
  makeLogPartitions,
} from '../../../src/data/logs.ts';
import type { Queryable } from '../../../src/data/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newLog, storedTenant } from '../../support/rows.ts';

describe('retention of the audit log in Postgres', () => {
  let test: TestDatabase;
  let tenantId: string;

  beforeEach(async () => {
    test = await createTestDatabase();
    tenantId = await storedTenant(test.database);
    for (const hour of ['00', '01', '02']) {
      await test.database.run({
        text: `
          create table logs_20200101${hour} partition of logs
          for values from ('2020-01-01 ${hour}:00+00') to ('2020-01-01 ${hour}:59:59+00')`,
      });
    }
  });
  afterEach(() => test.dispose());

  const old = (): Date => new Date('2019-01-01T00:00:00Z');
  const oldPartitions = async (): Promise<number> => {
    const text = `select count(*)::integer as count from pg_class where relname ~ '^logs_2020' and relkind = 'r'`;
    const [row] = await test.database.run<{ count: number }>({ text });
    return row!.count;
  };
  const kindOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      (value) => value,
      (error: unknown) => (error as { kind?: string }).kind,
    );
  const list = () => listLogs(test.database, { tenantId, retentionSeconds: 3600, limit: 1000 });
  /** Live traffic: what a drop that waits would have wait behind it. */
  const live = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      await insertLogs(test.database, [newLog(tenantId, 'x')]);
      await list();
    }
  };
  const whileReading = (table: string, work: (reader: Queryable) => Promise<void>): Promise<void> =>
    test.database.transaction(async (reader) => {
      await reader.run({ text: `select count(*) from ${table}` });
      await work(reader);
    });

  it('is carried out once, however many replicas do it', async () => {
    const outcomes = await Promise.all([1, 2, 3].map(() => dropLogPartitions(test.maintenance)));
    expect(outcomes.reduce((sum, dropped) => sum + dropped)).to.equal(3);
    expect(await oldPartitions()).to.equal(0);
  });

  it('does not wait for a long reader of the log, nor have others wait, and goes on after it', async () => {
    await whileReading('logs', async (reader) => {
      const [outcome] = await Promise.all([kindOf(dropLogPartitions(test.maintenance)), live()]);
      expect(outcome).to.equal('unavailable');
      await reader.run({ text: 'select 1' });
    });
    expect(await oldPartitions()).to.equal(3);
    expect(await dropLogPartitions(test.maintenance)).to.equal(3);
  });

  it('does not wait for a long reader of the one partition that is due', async () => {
    await whileReading('logs_2020010100', async () => {
      const [outcome] = await Promise.all([kindOf(dropLogPartitions(test.maintenance)), live()]);
      expect(outcome).to.equal('unavailable');
    });
    expect(await dropLogPartitions(test.maintenance)).to.equal(3);
  });

  it('lets a partition be made later where the log is being read for long', async () => {
    await whileReading('logs', async () => {
      const [outcome] = await Promise.all([kindOf(makeLogPartitions(test.maintenance, 10)), live()]);
      expect(outcome).to.equal('unavailable');
    });
    expect(await makeLogPartitions(test.maintenance, 10)).to.be.at.least(6);
    expect(await list()).to.have.length(20);
  });

  it('removes entries without a partition in bounded statements', async () => {
    const entries = Array.from({ length: 25 }, () => newLog(tenantId, 'x', { createdAt: old() }));
    await insertLogs(test.database, [...entries, newLog(tenantId, 'kept')]);
    const removed = [];
    for (let batch = 0; batch < 4; batch++) removed.push(await clearUnpartitionedLogs(test.maintenance, 10));
    expect(removed).to.deep.equal([10, 10, 5, 0]);
    expect((await list()).map(({ entityId }) => entityId)).to.deep.equal(['kept']);
  });

  it('of entries without a partition is shared by replicas: what one removes, another passes over', async () => {
    await insertLogs(
      test.database,
      Array.from({ length: 10 }, () => newLog(tenantId, 'x', { createdAt: old() })),
    );
    await test.database.transaction(async (transaction) => {
      expect(await clearUnpartitionedLogs(transaction, 4)).to.equal(4);
      expect(await clearUnpartitionedLogs(test.maintenance, 100)).to.equal(6);
    });
  });
});
