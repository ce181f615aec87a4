import { expect } from 'chai';
import type { DataKeys } from '../../../src/keys/data-keys.ts';
import { silentLogger } from '../../../src/platform/logger.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { createSweeper } from '../../../src/services/sweeper.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { rejection } from '../../support/rejection.ts';

describe('the metrics of the sweeper', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test.dispose());

  it('tell when it last came through whole, and how often a part failed', async () => {
    const metrics = createMetrics();
    let isAway = true;
    const sweeper = createSweeper({
      ...{ database: test.maintenance, logger: silentLogger, metrics },
      // No data key is due in an empty database.
      dataKeys: {} as DataKeys,
      shredCvcKeys: async () => {
        if (isAway) throw new Error('key management is away');
        return 2;
      },
    });
    const value = async (series: string): Promise<number> => {
      const line = (await metrics.registry.metrics())
        .split('\n')
        .find((text) => text.startsWith(`tokenkeep_${series} `));
      return Number(line?.split(' ').at(-1));
    };

    await rejection(sweeper.sweep());
    expect(await value('sweep_failures_total')).to.equal(1);
    expect(await value('sweep_last_success_timestamp_seconds')).to.equal(0);
    expect(await value('sweep_duration_seconds_count')).to.equal(1);
    isAway = false;
    await sweeper.sweep();
    expect(await value('sweep_failures_total')).to.equal(1);
    expect(await value('sweep_last_success_timestamp_seconds')).to.be.closeTo(Date.now() / 1_000, 30);
    expect(await value('swept_total{kind="cvc_master_key"}')).to.equal(2);
  });
});
