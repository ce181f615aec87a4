import { expect } from 'chai';
import fc from 'fast-check';
import { createCounterStore, type CounterStore } from '../../../../src/data/rate-limits/counter-store.ts';
import { SlidingWindowLimiter } from '../../../../src/data/rate-limits/sliding-window.ts';
import type { RateLimitRow } from '../../../../src/domain/rate-limits.ts';

const ROW: RateLimitRow = { name: 'row', counters: ['key'], requests: 3, windowSeconds: 10 };
const BLOCKING: RateLimitRow = { ...ROW, blockSeconds: 30 };

describe('counters in memory', () => {
  let now: number;
  let store: CounterStore;

  beforeEach(() => {
    now = 1_700_000_000_123;
    store = createCounterStore((row) => new SlidingWindowLimiter(row, { now: () => now }));
  });

  const count = (row = ROW, id = 'a') => store.count({ row, kind: 'key', id });
  async function passes(row = ROW, id = 'a'): Promise<boolean> {
    return !(await count(row, id)).refused;
  }

  it('let exactly the requests of the row through, and say how many are left and when there are more', async () => {
    expect(await count()).to.deep.equal({ row: ROW, refused: false, remaining: 2, waitMs: 10_000 });
    now += 4_000;
    expect(await count()).to.deep.equal({ row: ROW, refused: false, remaining: 1, waitMs: 6_000 });
    expect(await count()).to.deep.equal({ row: ROW, refused: false, remaining: 0, waitMs: 6_000 });
    expect(await count()).to.deep.equal({ row: ROW, refused: true, remaining: 0, waitMs: 6_000 });
  });

  it('have room again as each request leaves the window, to the millisecond', async () => {
    await count();
    now += 4_000;
    await count();
    await count();
    now += 5_999;
    expect(await passes()).to.equal(false);
    now += 1;
    expect(await passes()).to.equal(true);
    expect(await passes()).to.equal(false);
    now += 4_000;
    expect([await passes(), await passes(), await passes()]).to.deep.equal([true, true, false]);
  });

  it('do not count what they refuse', async () => {
    for (let index = 0; index < 20; index++) await count();
    now += 10_000;
    expect((await count()).remaining).to.equal(2);
  });

  it('are one for each id', async () => {
    for (let index = 0; index < 4; index++) await count();
    expect(await passes(ROW, 'b')).to.equal(true);
  });

  it('take back a request, and nothing where there is none', async () => {
    await store.takeBack({ row: ROW, kind: 'key', id: 'a' });
    for (let index = 0; index < 3; index++) await count();
    await store.takeBack({ row: ROW, kind: 'key', id: 'a' });
    expect([await passes(), await passes()]).to.deep.equal([true, false]);
  });

  it('refuse all for so long once one was too many, and then begin anew', async () => {
    for (let index = 0; index < 3; index++) expect(await passes(BLOCKING)).to.equal(true);
    expect(await count(BLOCKING)).to.deep.equal({ row: BLOCKING, refused: true, remaining: 0, waitMs: 30_000 });
    now += 15_000;
    expect(await count(BLOCKING)).to.deep.equal({ row: BLOCKING, refused: true, remaining: 0, waitMs: 15_000 });
    now += 14_999;
    expect(await passes(BLOCKING)).to.equal(false);
    now += 1;
    expect(await count(BLOCKING)).to.include({ refused: false, remaining: 2 });
  });

  it('begin anew where a block is shorter than the window', async () => {
    const row = { ...ROW, windowSeconds: 60, blockSeconds: 10 };
    for (let index = 0; index < 4; index++) await count(row);
    now += 10_000;
    expect(await count(row)).to.include({ refused: false, remaining: 2 });
  });

  it('remember what matters for as long as it does, and forget the rest', async () => {
    for (let index = 0; index < 4; index++) await count(BLOCKING, 'blocked');
    for (let second = 0; second < 29; second++) {
      now += 1_000;
      await count(BLOCKING, `other ${second}`);
    }
    expect(await passes(BLOCKING, 'blocked')).to.equal(false);
  });

  it('never let more through in any window, and never refuse where there is room', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 1, maxLength: 60 }), async (gaps) => {
        const limiter = createCounterStore((row) => new SlidingWindowLimiter(row, { now: () => now }));
        const passed: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const inWindow = passed.filter((time) => time > now - 10_000).length;
          const { refused } = await limiter.count({ row: ROW, kind: 'key', id: 'a' });
          expect(refused).to.equal(inWindow >= ROW.requests);
          if (!refused) passed.push(now);
        }
      }),
    );
  });
});
