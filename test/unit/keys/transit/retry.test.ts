import { expect } from 'chai';
import { retrying } from '../../../../src/keys/transit/retry.ts';
import { rejection } from '../../../support/rejection.ts';

const LIMITS = { tries: 3, firstWaitMs: 1 };

describe('retrying', () => {
  /** Fails so often, then gives how often it was called. */
  function failing(times: number): { work: () => Promise<number>; calls: () => number } {
    let calls = 0;
    return {
      async work() {
        calls++;
        if (calls <= times) throw new Error(`failure ${calls}`);
        return calls;
      },
      calls: () => calls,
    };
  }

  it('gives what the first try gives that succeeds', async () => {
    expect(await retrying(failing(0).work, () => true, LIMITS)).to.equal(1);
    expect(await retrying(failing(2).work, () => true, LIMITS)).to.equal(3);
  });

  it('fails as the last try did', async () => {
    const { work, calls } = failing(5);
    expect((await rejection(retrying(work, () => true, LIMITS))).message).to.equal('failure 3');
    expect(calls()).to.equal(3);
  });

  it('does not repeat what will not pass', async () => {
    const { work, calls } = failing(5);
    expect((await rejection(retrying(work, () => false, LIMITS))).message).to.equal('failure 1');
    expect(calls()).to.equal(1);
  });
});
