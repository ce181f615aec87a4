import type { CounterStore } from './counter-store.ts';
import { inTime, type RedisConnection } from './redis-connection.ts';

/**
 * Counts in Redis while that answers, and else in this process: then each replica lets through what all together
 * should. A request waits for Redis only until the first sign of trouble.
 */
export function createSharedStore(
  connection: RedisConnection,
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
