import { expect } from 'chai';
import { createWorkQueue } from '../../../src/operator/queue.ts';
import type { WorkResult } from '../../../src/operator/queue.ts';
import { createManualClock } from '../../support/operator/manual-clock.ts';

describe('a work queue that is held', () => {
  function createHeld(work: (key: string) => WorkResult = () => ({})) {
    const clock = createManualClock();
    const worked: string[] = [];
    const queue = createWorkQueue({
      work: async (key) => {
        worked.push(key);
        return work(key);
      },
      clock,
      workers: 1,
    });
    return { clock, worked, queue };
  }

  it('takes keys in, and works on them once it is released', async () => {
    const { queue, worked } = createHeld();
    queue.hold();
    for (const key of ['a', 'b', 'a']) queue.add(key);
    expect(worked).to.deep.equal([]);
    expect(queue.isIdle).to.be.false;
    expect(queue.load().waiting).to.deep.equal({ normal: 2, low: 0 });
    queue.release();
    await queue.idle();
    expect(worked).to.deep.equal(['a', 'b']);
  });

  it('lets one key through when it is asked to, and says where none waits', async () => {
    const { queue, worked } = createHeld(() => ({ requeueAfterMs: 5_000 }));
    queue.hold();
    queue.add('a');
    queue.add('b');
    expect(await queue.pass()).to.deep.equal({ requeueAfterMs: 5_000 });
    expect(worked).to.deep.equal(['a']);
    await queue.pass();
    expect(queue.pass()).to.be.undefined;
    await queue.stop();
  });

  it('puts a key that was let through and failed behind those that wait, and does not blame it', async () => {
    let fails = true;
    const { queue, worked, clock } = createHeld((): WorkResult => (fails ? { failed: true } : {}));
    queue.hold();
    queue.add('a');
    queue.add('b');
    for (let times = 0; times < 4; times += 1) await queue.pass();
    expect(worked).to.deep.equal(['a', 'b', 'a', 'b']);
    queue.release();
    await clock.advance(4);
    // The first failure that counts: the next attempt comes 5 ms after it.
    expect(worked.slice(4)).to.deep.equal(['a', 'b']);
    fails = false;
    await clock.advance(1);
    expect(queue.isIdle).to.be.true;
  });

  it('goes on with nothing after it was stopped', async () => {
    const { queue, worked } = createHeld();
    queue.hold();
    queue.add('a');
    await queue.stop();
    queue.release();
    expect(queue.pass()).to.be.undefined;
    expect(worked).to.deep.equal([]);
  });
});

describe('the priorities of a work queue', () => {
  it('have what changed before what is looked at in passing, in the order in which it came', async () => {
    const worked: string[] = [];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const work = async (key: string): Promise<WorkResult> => {
      worked.push(key);
      await gate;
      return {};
    };
    const queue = createWorkQueue({ work, clock: createManualClock(), workers: 1 });
    queue.add('first', 'low');
    for (const key of ['a', 'b', 'c']) queue.add(key, 'low');
    queue.add('changed');
    queue.add('c');
    queue.add('c', 'low');
    expect(queue.load().waiting).to.deep.equal({ normal: 2, low: 2 });
    open();
    await queue.idle();
    expect(worked).to.deep.equal(['first', 'changed', 'c', 'a', 'b']);
  });
});
