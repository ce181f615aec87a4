import { expect } from 'chai';
import { createDatabase } from '../../../src/data/database.ts';
import { createDatabaseMetrics } from '../../../src/data/database-metrics.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { rejection } from '../../support/rejection.ts';
import { eventually } from '../../support/eventually.ts';

describe('the metrics of a pool of connections', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  it('tell of its connections, of who waits for one, and how statements end', async () => {
    const metrics = createMetrics();
    const observe = createDatabaseMetrics(metrics);
    const database = createDatabase({
      ...{ connectionString: test.connectionString, logger: silentLogger, poolSize: 1, statementTimeoutMs: 500 },
      observer: observe('one'),
    });
    const value = async (series: string): Promise<number | undefined> => {
      const line = (await metrics.registry.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length));
    };
    const statements = (result: string) =>
      value(`tokenkeep_postgres_statement_duration_seconds_count{pool="one",result="${result}"}`);
    try {
      await database.run({ text: 'select 1' });
      await rejection(database.run({ text: 'select 1 / 0' }));
      await rejection(database.run({ text: 'select pg_sleep(5)' }));
      expect(await statements('ok')).to.equal(1);
      expect(await statements('refused')).to.equal(1);
      expect(await statements('timeout')).to.equal(1);

      expect(await value('tokenkeep_postgres_connections_max{pool="one"}')).to.equal(1);
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      const holder = database.transaction(() => held);
      const waiter = database.run({ text: 'select 1' });
      await eventually(async () => {
        expect(await value('tokenkeep_postgres_callers_waiting{pool="one"}')).to.equal(1);
        expect(await value('tokenkeep_postgres_connections{pool="one",state="busy"}')).to.equal(1);
      });
      release();
      await Promise.all([holder, waiter]);
      expect(await value('tokenkeep_postgres_callers_waiting{pool="one"}')).to.equal(0);
      expect(await value('tokenkeep_postgres_connections{pool="one",state="idle"}')).to.equal(1);
      expect(await value('tokenkeep_postgres_connection_wait_seconds_count{pool="one"}')).to.equal(5);
    } finally {
      await database.close();
    }
  });
});
