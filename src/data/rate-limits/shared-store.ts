import type { CounterStore } from './counter-store.ts';
import { inTime, type RedisConnection } from './redis-connection.ts';

/**
 * Counts in Redis while that answers, and else in this process: then each replica lets through what all together
 * should. What a request is counted on next is not asked of a Redis that has just failed.
 */
export function createSharedStore(
  connection: Pick<RedisConnection, 'isUp' | 'reportFailure'>,
  shared: CounterStore,
  local: CounterStore,
): CounterStore {
  async function run<Result>(work: (store: CounterStore) => Promise<Result>): Promise<Result> {
    if (!connection.isUp) return work(local);
    try {
      return await inTime(work(shared));
    } catch {
      connection.reportFailure();
      return work(local);
    }
  }

  return {
    count: (counter) => run((store) => store.count(counter)),
    takeBack: (counter) => run((store) => store.takeBack(counter)),
  };
}
