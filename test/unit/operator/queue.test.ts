import { expect } from 'chai';
import { createWorkQueue } from '../../../src/operator/queue.ts';
import type { WorkResult } from '../../../src/operator/queue.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';

describe('the work queue', () => {
  it('works once on a key that is added many times, and again on one that is added meanwhile', async () => {
    const clock = createManualClock();
    const worked: string[] = [];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const work = async (key: string): Promise<WorkResult> => {
      worked.push(key);
      await gate;
      return {};
    };
    const queue = createWorkQueue({ work, clock, workers: 1 });
    for (const key of ['a', 'b', 'b', 'b', 'a', 'a']) queue.add(key);
    open();
    await queue.idle();
    expect(worked).to.deep.equal(['a', 'b', 'a']);
  });

  it('never works on one key twice at a time, while other keys go on', async () => {
    const running = new Map<string, number>();
    let most = 0;
    const work = async (key: string): Promise<WorkResult> => {
      running.set(key, (running.get(key) ?? 0) + 1);
      expect(running.get(key)).to.equal(1);
      most = Math.max(
        most,
        [...running.values()].reduce((sum, count) => sum + count),
      );
      await new Promise((resolve) => setImmediate(resolve));
      running.set(key, 0);
      return {};
    };
    const queue = createWorkQueue({ work, clock: createManualClock(), workers: 3 });
    for (let round = 0; round < 5; round += 1) {
      for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await queue.idle();
    expect(most).to.equal(3);
  });

  it('tries a failed key again after 5 ms, doubling up to 1,000 s, and forgets failures after a success', async () => {
    const clock = createManualClock();
    const attempts: number[] = [];
    let succeeds = false;
    const work = async (): Promise<WorkResult> => {
      attempts.push(clock.now());
      return succeeds ? {} : { failed: true };
    };
    const queue = createWorkQueue({ work, clock });
    queue.add('a');
    await clock.advance(4_000_000);
    const gaps = attempts.slice(1).map((at, index) => at - attempts[index]!);
    expect(gaps.slice(0, 5)).to.deep.equal([5, 10, 20, 40, 80]);
    expect(Math.max(...gaps)).to.equal(1_000_000);

    succeeds = true;
    queue.add('a');
    await queue.idle();
    succeeds = false;
    const before = attempts.length;
    queue.add('a');
    await clock.advance(5);
    expect(attempts.length - before).to.equal(2);
    await queue.stop();
  });

  it('leaves alone for as long as it was asked to, but no longer than the longest pause', async () => {
    const clock = createManualClock();
    const attempts: number[] = [];
    const asked = [1_000, 1_000, 1, 90_000];
    const work = async (): Promise<WorkResult> => {
      const retryAfterMs = asked[attempts.length];
      attempts.push(clock.now());
      return retryAfterMs === undefined ? {} : { failed: true, retryAfterMs };
    };
    const queue = createWorkQueue({ work, clock, longestBackoffMs: 60_000 });
    queue.add('a');
    await clock.advance(100_000);
    expect(attempts).to.deep.equal([0, 1_000, 2_000, 2_020, 62_020]);
    await queue.stop();
  });

  it('counts keys to be tried again as unfinished, and those put off deliberately as done', async () => {
    const clock = createManualClock();
    let attempts = 0;
    const work = async (): Promise<WorkResult> => {
      attempts += 1;
      return attempts < 3 ? { failed: true } : { requeueAfterMs: 60_000 };
    };
    const queue = createWorkQueue({ work, clock });
    let isIdle = false;
    queue.add('a');
    void queue.idle().then(() => (isIdle = true));
    await clock.advance(4);
    expect(isIdle).to.be.false;
    await clock.advance(20);
    expect(isIdle).to.be.true;
    await clock.advance(60_000);
    expect(attempts).to.equal(4);
  });

  it('treats work that rejects as failed, and takes nothing once stopped', async () => {
    const clock = createManualClock();
    let attempts = 0;
    const work = async (): Promise<WorkResult> => {
      attempts += 1;
      throw new Error('broken');
    };
    const queue = createWorkQueue({ work, clock });
    queue.add('a');
    await clock.advance(6);
    expect(attempts).to.equal(2);
    await queue.stop();
    queue.add('a');
    await clock.advance(1_000_000);
    expect(attempts).to.equal(2);
  });
});
