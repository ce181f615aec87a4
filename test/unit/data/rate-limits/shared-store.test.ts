import { expect } from 'chai';
import { createCounterStore, type CounterStore } from '../../../../src/data/rate-limits/counter-store.ts';
import { createSharedStore } from '../../../../src/data/rate-limits/shared-store.ts';
import { SlidingWindowLimiter } from '../../../../src/data/rate-limits/sliding-window.ts';
import type { RateCounter } from '../../../../src/domain/rate-limits.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { createRateLimiter } from '../../../../src/services/rate-limiter.ts';

const counter = (id: string): RateCounter => ({
  row: { name: 'one', counters: ['key'], requests: 1, windowSeconds: 3600 },
  kind: 'key',
  id,
});

describe('a store that counts in Redis while that answers', () => {
  const local = () => createCounterStore((row) => new SlidingWindowLimiter(row, systemClock));

  /** A store that answers as it is told, with the connection to it that a failure takes down. */
  function connect(answer: CounterStore['count']) {
    let asked = 0;
    const connection = { isUp: true, reportFailure: () => void (connection.isUp = false) };
    const shared: CounterStore = {
      count: (one) => {
        asked++;
        return answer(one);
      },
      takeBack: async () => void asked++,
    };
    return { connection, shared, asked: () => asked };
  }

  for (const [what, answer] of [
    ['hangs', () => new Promise<never>(() => undefined)],
    ['fails', () => Promise.reject(new Error('READONLY'))],
  ] as const) {
    it(`asks it once where it ${what}: what a request is counted on next is counted here at once`, async () => {
      const { connection, shared, asked } = connect(answer);
      const limiter = createRateLimiter(createSharedStore(connection, shared, local()));
      const [byAddress] = await limiter.admit([counter('address')]);
      const [byKey] = await limiter.admit([counter('key')]);
      expect(asked()).to.equal(1);
      expect([byAddress?.refused, byKey?.refused]).to.deep.equal([false, false]);
      const [again] = await limiter.admit([counter('key')]);
      expect([again?.refused, asked()]).to.deep.equal([true, 1]);
    });
  }

  it('counts nothing here while it answers', async () => {
    const elsewhere = local();
    const { connection, shared, asked } = connect((one) => elsewhere.count(one));
    const here = local();
    const store = createSharedStore(connection, shared, here);
    expect((await store.count(counter('key'))).refused).to.equal(false);
    expect((await store.count(counter('key'))).refused).to.equal(true);
    expect([asked(), connection.isUp]).to.deep.equal([2, true]);
    expect((await here.count(counter('key'))).refused).to.equal(false);
  });
});
