import { expect } from 'chai';
import { repeat } from '../../../../src/services/audit-chain/repeat.ts';
import { eventually } from '../../../support/eventually.ts';

const NEVER_MS = 1_000_000;

describe('work that is repeated', () => {
  const failures: boolean[] = [];
  const onFailure = (_: unknown, isFirst: boolean): void => void failures.push(isFirst);
  beforeEach(() => void failures.splice(0));

  it('begins at once, and again after the pause that it gives', async () => {
    let turns = 0;
    const repetition = repeat(async () => (++turns < 3 ? 1 : NEVER_MS), { pauseMs: NEVER_MS, onFailure });
    await eventually(() => expect(turns).to.equal(3));
    await repetition.stop();
    expect(failures).to.deep.equal([]);
  });

  it('goes on after a failure, and tells the first one of several', async () => {
    let turns = 0;
    const repetition = repeat(
      async () => {
        turns += 1;
        if (turns !== 3) throw new Error('failed');
      },
      { pauseMs: 1, onFailure },
    );
    await eventually(() => expect(turns).to.be.at.least(5));
    await repetition.stop();
    expect(failures.slice(0, 4)).to.deep.equal([true, false, true, false]);
  });

  it('ends only once what is under way has, and does not begin again', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let turns = 0;
    let isStopped = false;
    const repetition = repeat(
      async () => {
        turns += 1;
        await promise;
      },
      { pauseMs: 1, onFailure },
    );
    const stopped = repetition.stop().then(() => (isStopped = true));
    await new Promise(setImmediate);
    expect(isStopped).to.equal(false);
    resolve();
    await stopped;
    expect(turns).to.equal(1);
  });
});
